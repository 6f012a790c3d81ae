#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on a machine with an NVIDIA GPU and CUDA 13; writes what was measured.
#
#   sh tests/gpu/run.sh [--build DIR] [--out DIR] [--rounds N] [--quick] [--simulated]
#
#   --build DIR   the built project (default: build); it may come from another machine
#   --out DIR     where DATE-GPU.md and .json go (default: tests/gpu/results)
#   --rounds N    interleaved rounds of every timing (default: 5)
#   --quick       one round of few steps, two trainers: to try the suite
#   --simulated   on the simulated device: tries the suite, measures nothing
#
# Exit status: 0 all went as it should, 1 something did not, 77 no GPU.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build out=$here/results rounds=5 steps=300 simulated=
names='lenet_naive lenet_rewritable lenet_tuned mlp' sizes='small wide'
while [ $# -gt 0 ]; do
	case $1 in
	--build) build=$2; shift ;;
	--out) out=$2; shift ;;
	--rounds) rounds=$2; shift ;;
	--quick) rounds=1 steps=70 names='lenet_naive mlp' sizes=small ;;
	--simulated) simulated=yes ;;
	*) sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
raw=$work/raw.tsv
: >"$raw"

# put SECTION NAME VALUE: one line of the result
put() {
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$raw"
}

if [ -z "$simulated" ]; then
	if ! command -v nvidia-smi >/dev/null 2>&1 || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
		echo "skipped: no NVIDIA GPU on this machine (nvidia-smi -L lists none)"
		exit 77
	fi
	# The programs carry a path to the simulated libraries; this goes before it.
	for folder in "${CUDA_HOME:-/nowhere}/lib64" /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu \
		$(find / -xdev -type d \( -path '*/nvidia/*/lib' -o -path '*/nvidia/cu13/lib' \) 2>/dev/null); do
		[ -d "$folder" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
	done
	export LD_LIBRARY_PATH
	gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
	put environment gpu "$gpu"
	put environment driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
	put environment clocks "$(nvidia-smi --query-gpu=clocks.sm,clocks.mem --format=csv,noheader | head -n 1)"
else
	gpu=simulated
	put environment gpu "simulated device: nothing below is a measurement"
fi
put environment date "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
put environment kernel "$(uname -sr)"
put environment cpus "$(nproc)"
put environment tfshim "$("$build/reports/tfshim" --version | head -n 1)"
put environment load "$(cut -d' ' -f1-3 /proc/loadavg)"

shim=$build/shim/libtfshim.so
trainers=$build/tests/trainers
digits=$trainers/digits-set
if [ ! -f "$digits/train-images-idx3-ubyte" ]; then
	digits=$work/digits
	"$trainers/digits" "$digits" >/dev/null || exit 1
fi

echo "semantics: what the simulated device promises, on this one"
for program in "$build"/tests/programs/sim_* "$build"/tests/programs/lib_*; do
	if [ ! -f "$program" ] || [ ! -x "$program" ]; then
		continue
	fi
	name=$(basename "$program")
	case $name in sim_poison | sim_timeline | sim_unsupported) continue ;; esac
	timeout 60 "$program" >"$work/out" 2>&1
	case $? in
	0) put semantics "$name" passed ;;
	77) put semantics "$name" "skipped: $(tail -n 1 "$work/out")" ;;
	*) put semantics "$name" "FAILED: $(grep -v '^tfsim:' "$work/out" | tail -n 2 | tr '\n\t' '  ')" ;;
	esac
done

echo "facts: what the documentation leaves open"
timeout 120 "$build/tests/gpu/facts" >"$work/out" 2>&1 || put facts facts "FAILED: $(tail -n 1 "$work/out")"
while read -r word name value; do
	[ "$word" = fact ] && put facts "$name" "$value"
done <"$work/out"

# step_time NAME TRAINER ENVIRONMENT...: one timing of one trainer
step_time() {
	name=$1 trainer=$2
	shift 2
	# shellcheck disable=SC2086 # a list of words
	env TFSHIM_OUTPUT="$work/rec-$name-%p" "$@" timeout 300 "$trainers/$trainer" --data "$digits" \
		--steps "$steps" $options >"$work/out" 2>&1 || put failures "$name" "$(tail -n 1 "$work/out")"
	put times "$name" "$(awk '/^time: step/ { print $3; exit }' "$work/out")"
}

quiet=report=0:quiet=1
for size in $sizes; do
	options=''
	label=''
	[ "$size" = wide ] && options="--size wide" label=wide-
	echo "step times, $size: $rounds interleaved rounds"
	for _ in $(seq 1 "$rounds"); do
		for trainer in $names; do
			[ -x "$trainers/$trainer" ] || continue
			step_time "$label$trainer" "$trainer" TFSHIM_DISABLE=1
			step_time "$label$trainer+totals" "$trainer" LD_PRELOAD="$shim" TFSHIM_REWRITE=off TFSHIM_OPTIONS=record=none:$quiet
			step_time "$label$trainer+windows" "$trainer" LD_PRELOAD="$shim" TFSHIM_REWRITE=off TFSHIM_OPTIONS=$quiet
			step_time "$label$trainer+all" "$trainer" LD_PRELOAD="$shim" TFSHIM_REWRITE=off TFSHIM_OPTIONS=record=all:$quiet
			step_time "$label$trainer+all-no-cupti" "$trainer" LD_PRELOAD="$shim" TFSHIM_REWRITE=off TFSHIM_OPTIONS=record=all:cupti=0:$quiet
			step_time "$label$trainer+rewrites" "$trainer" LD_PRELOAD="$shim" TFSHIM_DECISIONS="$work/$label$trainer.decisions" TFSHIM_OPTIONS=window=5:$quiet
		done
	done
done

echo "reports"
options=
mkdir -p "$here/recordings"
for trainer in $names; do
	[ -x "$trainers/$trainer" ] || continue
	rm -f "$work/$trainer".*
	TFSHIM_OUTPUT=$work/$trainer TFSHIM_REWRITE=report TFSHIM_OPTIONS=window=12:limit=1m:quiet=1 \
		LD_PRELOAD=$shim timeout 300 "$trainers/$trainer" --data "$digits" --steps 60 >"$work/out" 2>&1 ||
		put failures "$trainer under the shim" "$(tail -n 1 "$work/out")"
	put verdicts "$trainer" "$(head -n 1 "$work/$trainer.txt" 2>/dev/null || echo 'no report')"
	[ -z "$simulated" ] && [ -f "$work/$trainer.tfs" ] && cp "$work/$trainer.tfs" "$here/recordings/"
done

if command -v python3 >/dev/null 2>&1 && python3 -c 'import torch' 2>/dev/null && [ -z "$simulated" ]; then
	echo "PyTorch"
	for mode in "" "$shim"; do
		LD_PRELOAD=$mode TFSHIM_OUTPUT="$work/torch-%p" timeout 300 python3 "$here/torch_step.py" >"$work/out" 2>&1 ||
			put failures "torch_step.py${mode:+ under the shim}" "$(tail -n 1 "$work/out")"
		put torch "${mode:+under the shim}${mode:-plain}" "$(grep '^time:' "$work/out" | tail -n 1)"
	done
else
	put torch torch "skipped: no PyTorch with CUDA here"
fi

mkdir -p "$out"
name=$(date -u +%Y-%m-%d)-$(echo "$gpu" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
awk -f "$here/result.awk" -v format=md "$raw" >"$out/$name.md"
awk -f "$here/result.awk" -v format=json "$raw" >"$out/$name.json"
cat "$out/$name.md"
echo "written: $out/$name.md and .json"
! grep -q "FAILED" "$raw" && ! grep -q "^failures" "$raw"
