#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on a machine with an NVIDIA GPU and CUDA 13; writes what was found and measured.
#
#   sh tests/gpu/run.sh [--only PARTS] [--resume] [--seconds N] [--rounds N] [--out DIR]
#                       [--name NAME] [--build DIR] [--libraries DIR] [--cases PATTERN] [--quick]
#                       [--simulated]
#   sh tests/gpu/run.sh --merge [--out DIR] [--name NAME] FILE.tsv...
#
#   --only PARTS     some of: environment facts slots recordings witnesses cases pairs gain habits
#                    around wide overhead copies torch models (with commas; default: all). What a part
#                    found before is replaced. Where a command may take ten minutes only: up to
#                    cases, up to around, and the rest, each with "--seconds 550", then --merge
#   --cases PATTERN  of the cases, the facts and the models only those whose names begin so (an
#                    extended expression)
#   --resume         leave out the parts that are complete in OUT/NAME.tsv
#   --seconds N      for all parts together; what does not fit is left out, and said. A part that
#                    is asked for alone may take all of it
#   --rounds N       most interleaved rounds of every timing (default 7); fewer if time is short
#   --out DIR        NAME.md, .json, .tsv, .log, and recordings/ (default: tests/gpu/results, and
#                    the recordings in tests/gpu/recordings)
#   --name NAME      default: DATE-GPU
#   --build DIR      the built project (default: build); it may come from another machine, see
#                    pack.sh
#   --libraries DIR  where CUDA's libraries are (default: searched for)
#   --quick          one round of few steps and few programs: to try the suite
#   --simulated      on the simulated device: tries the suite, measures nothing; needs --out.
#                    With GPU_PRETEND=1 the parts do all they do on hardware, to try that too
#   --merge          no run: puts together what several runs have found
#
# Every part is a file parts/NAME.sh, has a time limit of its own, and writes each result when it
# has it; no failure stops another part. Exit status: 0 all went as it should, 1 something did
# not, 2 misuse, 77 no GPU.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# What is carried comes after everything that the machine has.
[ ! -d "$root/bin" ] || PATH=$PATH:$root/bin
# Where containers have the driver's tools.
[ ! -d /usr/local/nvidia/bin ] || PATH=$PATH:/usr/local/nvidia/bin
export PATH
build=$root/build out='' rounds=7 simulated='' quick='' libraries='' seconds=100000 name='' resume=''
merge='' timed='' some='' begun=$(date +%s)
# In this order: first what no other machine can tell. With the seconds that each may take.
all='environment:30 facts:170 slots:60 recordings:100 witnesses:60 cases:220 pairs:190'
all="$all gain:220 habits:190 around:130 wide:200 overhead:180 copies:60 torch:100 models:300"
only=''
while [ $# -gt 0 ]; do
	case $1 in
	--only) only=$(echo "$2" | tr ',' ' '); shift ;;
	--cases) some=$2; shift ;;
	--resume) resume=yes ;;
	--seconds) seconds=$2 timed=yes; shift ;;
	--rounds) rounds=$2; shift ;;
	--out) out=$2; shift ;;
	--name) name=$2; shift ;;
	--build) build=$(cd "$2" && pwd) || exit 2; shift ;;
	--libraries) libraries=$(cd "$2" && pwd) || exit 2; shift ;;
	--quick) rounds=1 quick=yes ;;
	--simulated) simulated=yes ;;
	--merge) merge=yes ;;
	-*) sed -n '3,33s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
for part in $only; do
	case " $all" in
	*" $part:"*) ;;
	*) echo "run.sh: no part is called $part; there are $(echo "$all" | sed 's/:[0-9]*//g')" >&2; exit 2 ;;
	esac
done
if [ $# -gt 0 ] && [ -z "$merge" ]; then
	echo "run.sh: what is '$1'? (see --help)" >&2
	exit 2
fi

# write_results TSV: the Markdown and the JSON beside it
write_results() {
	for format in md json; do
		for part in $all; do
			grep "^${part%:*}	" "$1"
		done | awk -f "$here/result.awk" -v format="$format" -v compare="$here/simulated.tsv" >"${1%.tsv}.$format"
	done
}

[ -n "$out" ] && recordings=$out/recordings || { out=$here/results recordings=$here/recordings; }
if [ -n "$merge" ]; then
	if [ "$(cat "$@" | grep '^environment	environment	gpu	' | sort -u | wc -l)" -gt 1 ]; then
		echo "run.sh: these are of several devices" >&2
		exit 2
	fi
	mkdir -p "$out" || exit 1
	raw=$out/${name:-merged}.tsv
	# Of a part that several files have, the last one's counts.
	awk -F '\t' 'FNR == 1 { file++ }
		{ where[$1] = file; lines[file, $1] = lines[file, $1] $0 "\n"; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
		END { for (i = 1; i <= n; i++) printf "%s", lines[where[order[i]], order[i]] }' "$@" >"$raw.new" &&
		mv "$raw.new" "$raw" && write_results "$raw" && echo "written: ${raw%.tsv}.md and .json"
	exit
fi

if [ -n "$simulated" ] && [ "$(realpath -m "$out")" = "$here/results" ]; then
	echo "run.sh: what the simulated device says is no result: name a folder for it (--out)" >&2
	exit 2
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/libraries"
. "$here/common.sh"

if [ -n "$simulated" ]; then
	gpu='simulated device: nothing below is a measurement'
	ln -s "${libraries:-$build/tests/sim}"/lib*.so* "$work/libraries/"
	export TFSIM_PACE=0
	[ -z "${GPU_PRETEND:-}" ] || simulated=''
else
	if ! has_gpu; then
		echo "skipped: no NVIDIA GPU on this machine (nvidia-smi -L lists none)"
		exit 77
	fi
	gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
	# The programs look for the simulated libraries beside them: theirs must be the real ones.
	if [ -d "$build/tests/sim" ] && [ ! -L "$build/tests/sim" ]; then
		sh "$here/pack.sh" --plain "$work/pack" --build "$build" >/dev/null || exit 1
		build=$work/pack/build
	fi
	link_libraries "$work/libraries" "$libraries" "$root/lib/cuda"
fi
# Where the programs look for the simulated libraries they find those that they are to use.
if [ -L "$build/tests/sim" ] || [ ! -e "$build/tests/sim" ]; then
	ln -sfn "$work/libraries" "$build/tests/sim"
	trap 'rm -rf "$work"; rm -f "$build/tests/sim"' EXIT
fi
link_missing "$work/libraries" "$root/lib"
libraries=$work/libraries
name=${name:-$(date -u +%Y-%m-%d)-$(echo "${gpu:-gpu}" | cut -d: -f1 | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')}
mkdir -p "$out" "$recordings" || exit 1
raw=$(cd "$out" && pwd)/$name.tsv
log=${raw%.tsv}.log
touch "$raw" "$log"
export GPU_HERE="$here" GPU_ROOT="$root" GPU_BUILD="$build" GPU_WORK="$work" GPU_RAW="$raw" \
	GPU_ROUNDS="$rounds" GPU_CASES="$some" GPU_QUICK="$quick" GPU_SIMULATED="$simulated" GPU_LIBRARIES="$libraries" \
	GPU_RECORDINGS="$recordings" GPU_NAME="$gpu" GPU_OWN_PATH="${LD_LIBRARY_PATH:-}"

# Whatever is run, the result says where.
grep -q '^environment	environment	gpu	' "$raw" || GPU_PART=environment put environment gpu "$gpu"

end=$((begun + seconds))
for entry in $all; do
	part=${entry%:*} limit=${entry#*:}
	case " ${only:-$part} " in *" $part "*) ;; *) continue ;; esac
	[ -n "$resume" ] && grep -q "^$part	parts	$part	complete" "$raw" && continue
	left=$((end - $(date +%s)))
	if [ "$left" -lt 20 ]; then
		echo "$part: left out, no time"
		grep -q "^$part	parts	" "$raw" || GPU_PART=$part put parts "$part" "left out: no time"
		continue
	fi
	[ "$limit" -le "$left" ] || limit=$left
	[ "$only" != "$part" ] || [ -z "$timed" ] || limit=$left
	grep -v "^$part	" "$raw" >"$work/kept"
	cat "$work/kept" >"$raw"
	echo "$part: at most $limit s"
	mkdir -p "$work/$part"
	start=$(date +%s)
	(
		cd "$work/$part" && export GPU_PART="$part" GPU_END=$((start + limit)) &&
			LD_LIBRARY_PATH=$libraries${GPU_OWN_PATH:+:$GPU_OWN_PATH} exec timeout -k 5 $((limit + 10)) sh "$here/parts/$part.sh"
	) >>"$log" 2>&1 </dev/null
	status=$? spent=$(($(date +%s) - start))
	case $status in
	0) GPU_PART=$part put parts "$part" "complete, $spent s" ;;
	124 | 137) GPU_PART=$part put parts "$part" "FAILED: not done in $limit s" ;;
	*) GPU_PART=$part put parts "$part" "FAILED: status $status after $spent s" ;;
	esac
	write_results "$raw"
	rm -rf "${work:?}/$part"
done
sed -n 's/^[^	]*	parts	//p; s/^[^	]*	\([^	]*	[^	]*	FAILED\)/  \1/p' "$raw" | tr '\t' ' '
sed -n '/^## goals/,$s/^| \([^|]*[^| ]\) *| \([^|]*\) | [*]*\(yes\|no\)[*]* |$/goal \3: \1: \2/p' "${raw%.tsv}.md"
echo "written: ${raw%.tsv}.md and .json"
! grep -q "	FAILED" "$raw"
