#!/bin/sh
# SPDX-License-Identifier: MIT
# `tfshim report`, rules and doctor: what they write where, and what they say when they cannot.
# report.sh TFSHIM RECORD
set -u
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

tfshim=$(realpath "$1")
record=$(realpath "$2")
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
cd "$folder" || exit 1

# expect STATUS ARGUMENT...
expect() {
	want=$1
	shift
	"$tfshim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'$*' ended with $got, not $want"
}

"$record" run.tfs || exit 1

expect 0 report run.tfs
grep -q 'TFS101' out || wrong "the text is not on stdout"
for suffix in txt html json; do
	[ -s "run.$suffix" ] || wrong "run.$suffix is missing"
done
cmp -s out run.txt || wrong "stdout and run.txt differ"
ls -- *.tmp >/dev/null 2>&1 && wrong "temporary files are left"
rm -f run.txt run.html run.json

expect 0 report --exit-summary run.tfs
[ ! -s out ] || wrong "the summary went to stdout"
[ "$(wc -l <err)" -le 10 ] || wrong "the summary is longer than ten lines"
grep -q 'run.html' err || wrong "the summary names no page"
grep -q 'TFS101' err || wrong "the summary names no finding"
head -n 1 err | grep -q '^tfshim: modelled: 2.00 ms as written → 2.00 ms now (1.00×) → .* possible (.*×, 95 %: .*× to .*×) per step$' ||
	wrong "the summary does not open with the step time: $(head -n 1 err)"
[ "tfshim: $(head -n 1 run.txt)" = "$(head -n 1 err)" ] || wrong "text and summary open differently"
grep -q '^  Rewrites are off; TFSHIM_REWRITE=report would add ' err ||
	wrong "the summary does not say what rewrites would do"
[ -s run.html ] && [ -s run.json ] && [ -s run.txt ] || wrong "the summary wrote no reports"
expect 0 report --quiet run.tfs
[ ! -s out ] && [ ! -s err ] || wrong "--quiet speaks"
rm -f run.txt run.html run.json

expect 0 report --format json run.tfs
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' out || wrong "no JSON on stdout"
[ ! -e run.json ] || wrong "--format wrote beside the recording"
expect 0 report -o page.html run.tfs
head -n 1 page.html | grep -qi '<!DOCTYPE html>' || wrong "-o page.html is no page"
expect 0 report --format text -o - run.tfs
grep -q 'FIX THESE' out || wrong "-o - wrote nothing to stdout"
expect 0 report --quiet --format json --output only.json run.tfs
[ ! -s out ] && [ ! -s err ] || wrong "--quiet prints something"
grep -q '"as_written"' only.json || wrong "--quiet leaves --output unwritten"
expect 2 report --quiet --format json run.tfs
grep -q 'name a file with --output' err || wrong "--quiet does not say what it needs"
expect 2 report --quiet --output - run.tfs

mkdir many && cp run.tfs many/a.tfs && cp run.tfs many/b.tfs
expect 0 report --quiet many
[ -s many/a.html ] && [ -s many/b.html ] || wrong "a folder's recordings were not all reported"
mkdir none
expect 3 report none
cp run.tfs old.tfs
printf '\001' | dd of=old.tfs bs=1 seek=8 conv=notrunc status=none
expect 3 report old.tfs
[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || wrong "an older recording is not refused in one line"
grep -q 'old.tfs: recorded by an older tfshim' err || wrong "it is not said why an older recording is refused"
rm -f old.tfs
expect 3 report absent.tfs
grep -q 'No such file' err || wrong "a missing file is not named as such"
expect 2 report
expect 2 report --format pdf run.tfs
expect 2 report -o x.txt many
expect 2 report -o absent/x.txt run.tfs
grep -q 'absent/x.txt' err || wrong "an unwritable file is not named"

# One cause, one card.
recordings=$here/../fuzz/corpus/report

# cards RECORDING IDS...
cards() {
	expect 0 report --format json -o cards.json "$1"
	shift
	python3 "$here/cards.py" cards.json "$@" || wrong "cards"
}

"$record" twice.tfs copies=2 extra=2 || exit 1
cards twice.tfs TFS101 TFS101+TFS202+TFS203
"$record" seldom.tfs copies=1 bytes=4096 extra=1 steps=30 || exit 1
cards seldom.tfs TFS101+TFS202+TFS203
# Recorded: a wait with the copy that it waits for, and few steps; one finding.
cards "$recordings/rule_203_bad.tfs" TFS203+TFS201 TFS905
cp "$recordings/rule_203_bad.tfs" few.tfs
expect 0 report few.tfs
grep -q '^     count    1 call/step' out && ! grep -q ' 0 calls/step' out || wrong "calls are counted where none is meant"
cards "$recordings/pageable.tfs" TFS701+TFS101

# What recording costs is an interval, of steps inside windows and outside: 2 ms here and 1.9 ms there.
# A handful of steps tells nothing.
"$record" outside.tfs outside=40 && "$record" few.tfs outside=5 || exit 1
expect 0 report --format json -o outside.json outside.tfs
grep -q '"a step takes 5.3 % to 5.3 % longer inside windows (95 % interval; median 2.00 ms inside, 1.90 ms outside)"' \
	outside.json || wrong "the cost of recording: $(grep -A 1 overhead outside.json)"
expect 0 report --format json -o few.json few.tfs
grep -q '"not measurable: fewer than 7 steps inside or outside of windows"' few.json ||
	wrong "the cost of recording of a few steps: $(grep -A 1 overhead few.json)"
# What CUPTI goes on costing is told where there was CUPTI.
expect 0 report --format json -o hardware.json "$here/../gpu/recordings/lenet_naive-h200.tfs"
grep -q 'median .* outside); outside of them CUPTI still takes time in each CUDA call' hardware.json ||
	wrong "what CUPTI costs: $(grep -A 1 overhead hardware.json)"

# Where no steps are known, nor a loop that went round often enough, none are judged, but what was recorded
# was.
"$record" unmarked.tfs marked=0 steps=15 || exit 1
expect 0 report unmarked.tfs
for line in '! training steps             not found' '  calls                      recorded' \
	'  GPU activity               recorded'; do
	grep -q "^  $line" out || wrong "without steps there is no line '$line'"
done
# Instead the run is summed up: 15 blocking copies of 180 us and 1 MiB each, 15 kernels of 490 us.
grep -q '^not judged: no training steps were found; the whole run: cudaMemcpy at .* takes 2.70 ms of the host time in blocking calls, which is 6.9 % of the recorded time$' out ||
	wrong "the verdict does not say where the time of the run went: $(head -n 1 out)"
for row in ' 2.70 ms   6.9 %        15  cudaMemcpy  ' '14.1 ms    47 %        15  cudaLaunchKernel  ' \
	' 2.25 ms   7.5 %        15  cudaMemcpy  ' '15.0 MiB   100 %        15  cudaMemcpy  '; do
	grep -q "^ *$row" out || wrong "the run has no line '$row'"
done
# And judged as a run: nothing is said per step, nor is any level above a note.
grep -q '^  1. i note  TFS101 pageable-copy' out || wrong "the run's pageable copy is no note"
grep -q 'count    15 calls, 15.0 MiB, 2.70 ms on the host in the recorded run$' out ||
	wrong "the copies of the run are not counted"
sed -n '/^FIX THESE/,/^NOT MEASURABLE/p' out | grep -q 'per step\|/step' && wrong "something is told per step"
python3 -c 'import json, sys
one = json.load(open(sys.argv[1]))["findings"][0]
sys.exit((one["per_step"]["count"], one["cost"]["ns_per_step"], one["in_run"]["count"], one["in_run"]["bytes"])
	!= (None, None, 15, 15 << 20))' unmarked.json || wrong "the JSON does not tell of the run"
for row in 'Whole run' '<b>2.70 ms</b>' '<b>14.1 ms</b>' '<b>15.0 MiB</b>' 'href="#run"'; do
	grep -q "$row" unmarked.html || wrong "the page of a run without steps has no '$row'"
done
expect 3 check unmarked.tfs
grep -q 'unmarked.tfs: no usable data: no training steps were found; mark where each step begins .*, and record again$' err ||
	wrong "check does not say what to do without steps: $(cat err)"
grep -q 'doctor\|whole run' err && wrong "check says of a run without steps what does not help"
# With more rounds the loop's iterations stand for steps: all is told by iteration, and is a note.
"$record" rounds.tfs marked=0 || exit 1
expect 0 report rounds.tfs
for line in 'not judged: no weight update was seen; iterations of the loop with most calls' \
	'steps     none found: no weight update was seen; 60 iterations of the loop' \
	'gpu       busy .* of the iteration' '  1. i note  TFS101 pageable-copy' \
	'     count    1 call/step, 1.00 MiB/step' '  ! training steps             not found: iterations'; do
	grep -q "^$line" out || wrong "of iterations there is no line '$line'"
done
grep -q '! warn\|x error' out && wrong "iterations break a rule"
tr -s '\n ' ' ' <out >flat
for text in ' idle [0-9.]* µs per iteration; ' ' ITERATION TIME modelled, ' '; 59 recorded iterations with ' \
	' cost 105 µs ([^)]*) per iteration = 5.2 % of the iteration as written, ' \
	' a step is an iteration of the loop with most of them; 60 of its iterations were counted '; do
	grep -q "$text" flat || wrong "of iterations it is not told '$text'"
done
sed '/^FIX THESE/,$d' out | grep -q 'STEP TIME\|per step\|recorded step' && wrong "iterations are called steps"
grep -q 'All iterations, median</dt>' rounds.html && grep -q 'GPU time per iteration' rounds.html &&
	grep -q '% of the iteration as written' rounds.html && ! grep -q '>Per step<' rounds.html || wrong "the page does not tell iterations from steps"
expect 3 check rounds.tfs
grep -q 'rounds.tfs: not judged: no weight update was seen; .* passes or fails no gate; mark where each step begins' err ||
	wrong "check does not say why it judges no iterations: $(cat err)"
grep -q 'no usable data\|doctor' err && wrong "check takes iterations for missing data"
expect 0 report run.tfs
grep -q 'WHOLE RUN' out && wrong "steps are judged, and the run is listed as well"

# Names that reorder text or steer a terminal are shown by their numbers wherever people read.
evil=$(printf 'ev\342\200\256il\302\205\033[31m')
hidden=$(printf '\342\200\256\|\302\205\|\033\|\357\273\277\|\342\200\213\|\342\200\250\|\363\240\201\201')

# tame FILE...: they show such a name, and it does nothing
tame() {
	for file; do
		LC_ALL=C grep -q "$hidden" "$file" && wrong "a hostile name gets through: $file"
		grep -q 'ev\[U+202E\]il\[U+0085\]' "$file" || wrong "a hostile name is not shown: $file"
	done
}

mkdir "$evil" && "$record" "$evil/$evil.tfs" hostile=1 || exit 1
expect 0 report --color never "$evil/$evil.tfs"
tame out "$evil/$evil.txt" "$evil/$evil.html"
for shown in '^device' 'NVTX' 'libcudart' 'FIX THESE'; do
	grep -q "$shown" out || wrong "the hostile recording's report has no line with '$shown'"
done
[ "$(grep -c '\[U+202E\]' out)" -ge 4 ] || wrong "too few hostile names are shown"
python3 -c 'import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
sys.exit("ev\u202eil\u0085\x1b[31m" not in json.dumps(json.loads(text), ensure_ascii=False).replace("\\u001b", "\x1b"))' \
	"$evil/$evil.json" || wrong "the JSON does not have the name as it is"
LC_ALL=C grep -q "$hidden" "$evil/$evil.json" && wrong "a hostile name gets through: JSON"
expect 0 report --exit-summary "$evil/$evil.tfs"
tame err
expect 1 check --color never "$evil/$evil.tfs"
head -c 3000 "$evil/$evil.tfs" >"$evil/cut$evil.tfs"
expect 3 check "$evil/cut$evil.tfs"
tame err
expect 3 report "$evil/absent"
tame err
expect 2 report -o "$evil/absent/x" run.tfs
tame err
expect 2 "$evil"
tame err
expect 2 report --format "$evil" run.tfs
tame err
expect 127 run -q "./$evil.program"
tame err

# What lies where a report goes is never written through: neither a link nor what it names.
mkdir planted && cp run.tfs planted/
for suffix in txt html json; do
	echo kept >"planted/target-$suffix"
	ln -s "target-$suffix" "planted/run.$suffix"
	ln -s "target-$suffix" "planted/run.$suffix.tmp"
done
expect 0 report --quiet planted/run.tfs
for suffix in txt html json; do
	[ "$(cat "planted/target-$suffix")" = kept ] || wrong "a link was written through: $suffix"
	[ ! -h "planted/run.$suffix" ] && [ -s "planted/run.$suffix" ] || wrong "no report: $suffix"
done

# A full disk: nothing half is left, and it is said.
if [ -w /dev/full ]; then
	"$tfshim" report --format text run.tfs >/dev/full 2>err
	got=$?
	[ "$got" = 2 ] || wrong "a full disk ended with $got, not 2"
	[ -s err ] || wrong "a full disk was not mentioned"
fi
(ulimit -f 20; trap '' XFSZ; "$tfshim" report --format html -o small.html run.tfs) >out 2>err
got=$?
[ "$got" = 2 ] || wrong "a file-size limit ended with $got, not 2"
[ ! -e small.html ] && [ ! -e small.html.tmp ] || wrong "half a page is left"

# Colour: by the variables, and by --color above all.
escape=$(printf '\033')
FORCE_COLOR=1 "$tfshim" report --format text run.tfs >out 2>err
grep -q "$escape" out || wrong "FORCE_COLOR gives no colour"
FORCE_COLOR=1 NO_COLOR=1 "$tfshim" report --format text run.tfs >out 2>err
grep -q "$escape" out && wrong "NO_COLOR gives colour"
NO_COLOR=1 "$tfshim" report --format text --color always run.tfs >out 2>err
grep -q "$escape" out || wrong "--color always gives no colour"
"$tfshim" report --format text run.tfs >out 2>err
grep -q "$escape" out && wrong "a file gets colour"
on_a() {
	env -u NO_COLOR -u FORCE_COLOR -u CLICOLOR_FORCE TERM="$1" python3 -c \
		'import pty, sys; pty.spawn(sys.argv[1:])' "$tfshim" report --format text run.tfs \
		>out 2>err </dev/null
}
on_a xterm
grep -q "$escape" out || wrong "a terminal gets no colour"
on_a dumb
grep -q "$escape" out && wrong "a dumb terminal gets colour"

expect 0 --help
grep -q 'check' out || wrong "--help lists no commands"
expect 0 --version
grep -q '^tfshim [0-9]' out || wrong "--version names no version"
expect 2
expect 2 nonsense
for command in run report check diff rules doctor; do
	expect 0 "$command" --help
	grep -q "usage: tfshim $command" out || wrong "$command has no help"
done
expect 0 rules
grep -q '^TFS101' out || wrong "rules does not list TFS101"
expect 0 rules TFS101
cp out by-id
expect 0 rules pageable-copy
cmp -s out by-id || wrong "a rule's slug and id say different things"
expect 2 rules TFS999
"$tfshim" doctor "$tfshim" >out 2>err
got=$?
[ "$got" -le 1 ] || wrong "doctor ended with $got"
grep -q 'shim' out || wrong "doctor says nothing of the shim"
expect 2 doctor ./absent
exit "$failed"
