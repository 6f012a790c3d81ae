#!/bin/sh
# SPDX-License-Identifier: MIT
# Two recordings of one program, compared: diff.sh TFSHIM RECORD
set -u

tfshim=$(realpath "$1")
record=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# shellcheck source=tests/reports/common.sh
. "$here/common.sh"

# expect STATUS ARGUMENT...: of tfshim
expect() {
	want=$1
	shift
	"$tfshim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'$*' ended with $got, not $want"
}

"$record" read.tfs copies=2 extra=2 && "$record" none.tfs copies=2 && "$record" more.tfs copies=4 extra=2 &&
	"$record" few.tfs copies=2 steps=20 && "$record" quick.tfs copies=2 extra=2 outside=40 || exit 1

# section NAME: the findings that the latest output has under it, by rule
section() {
	awk -v name="$1" '/^[^ ]/ { on = index($0, name) == 1; next } on { print $1 }' out | tr '\n' ' '
}

expect 0 diff read.tfs none.tfs
[ "$(section fixed)" = "TFS101 TFS202 TFS203 " ] || wrong "fixed: $(section fixed)"
[ -z "$(section new)$(section changed)" ] || wrong "what was fixed is new, or changed"
grep -q '^  TFS203 read-back-each-step  .*  cudaMemcpy  99.0 µs per step, modelled$' out ||
	wrong "a finding has no place and cost"
expect 0 diff none.tfs read.tfs
[ "$(section new)" = "TFS101 TFS202 TFS203 " ] || wrong "new: $(section new)"
[ -z "$(section fixed)" ] || wrong "what is new was fixed"
expect 0 diff read.tfs more.tfs
[ "$(section changed)" = "TFS101 " ] || wrong "changed: $(section changed)"
grep -q '2 calls/step → 4 calls/step, 2.00 MiB → 4.00 MiB per step' out || wrong "what changed is not told"
expect 0 diff read.tfs read.tfs
grep -q '^the findings are the same$' out || wrong "a recording differs from itself"
grep -q 'as written  2.00 ms → 2.00 ms: no difference beyond the 95 % intervals' out || wrong "equal step times differ"

# A run of fewer steps may not have reached what is missing; and what was not judged is not fixed.
expect 0 diff read.tfs few.tfs
[ -z "$(section fixed)" ] && [ "$(section 'not known')" = "TFS101 TFS202 TFS203 " ] ||
	wrong "a shorter run fixed: $(section fixed)"
expect 3 diff read.tfs "$here/../fuzz/corpus/report/rule_203_bad.tfs"
grep -q 'not comparable: of another program' err || wrong "it is not said why two runs are not comparable"

# Iterations of a loop are no steps, and of what could not be judged nothing is known to be fixed.
"$record" rounds.tfs marked=0 && "$record" unmarked.tfs marked=0 steps=15 || exit 1
expect 3 diff read.tfs rounds.tfs
grep -q 'rounds.tfs: not comparable: it has iterations of a loop, and the other training steps$' err ||
	wrong "iterations are compared with steps"
[ -s out ] && wrong "runs that are not comparable are compared"
expect 3 diff rounds.tfs read.tfs
grep -q 'read.tfs: not comparable: it has training steps, and the other iterations of a loop$' err ||
	wrong "steps are compared with iterations"
expect 3 diff read.tfs unmarked.tfs
grep -q 'unmarked.tfs: not judged: no training steps were found' err || wrong "no verdict is told"
[ -s out ] && wrong "what was not judged is compared"
expect 3 diff unmarked.tfs read.tfs
grep -q 'unmarked.tfs: not judged: no training steps were found' err || wrong "no verdict is told of the first"
expect 3 diff rounds.tfs rounds.tfs
grep -q 'not judged: no weight update was seen' err || wrong "iterations are judged"

# Recording added 100 us to each step of 2 ms: the steps of the second run were timed without.
expect 0 diff read.tfs quick.tfs
grep -q '^step time, modelled$' out || wrong "the simulated device's step time is not told as modelled"
grep -q '  as written  2.00 ms → 1.90 ms: 5.0 % shorter, by 100 µs (100 µs to 100 µs)$' out ||
	wrong "the step time: $(grep 'as written' out)"
expect 0 diff quick.tfs read.tfs
grep -q '  as written  1.90 ms → 2.00 ms: 5.3 % longer, by 100 µs (100 µs to 100 µs)$' out ||
	wrong "the step time: $(grep 'as written' out)"

# The same as a page, and in a file.
expect 0 diff read.tfs more.tfs
cp out printed
expect 0 diff -o more.txt read.tfs more.tfs
cmp -s printed more.txt || wrong "a file has something else than is printed"
"$record" less.tfs copies=4 && expect 0 diff -o more.html read.tfs less.tfs
[ -s out ] && wrong "a page is printed as well"
PYTHONPATH=$here python3 - more.html <<'END' || wrong "the page"
import re, sys
from page import Page
text = open(sys.argv[1], encoding="utf-8").read()
page = Page(text)
words = re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", text, flags=re.S))
words = re.sub(r"\s+", " ", words)
assert not page.problems, page.problems
assert "script" not in page.counts, page.counts
assert page.counts["table"] == 3, page.counts
for part in ("as written 2.00 ms → 2.00 ms no difference beyond the 95 % intervals", "Fixed Rule",
             "TFS203 read-back-each-step a small value read back in each step cudaMemcpy",
             "Changed Rule", "2 calls/step → 4 calls/step, 2.00 MiB → 4.00 MiB per step"):
    assert part in words, (part, words)
END
expect 2 diff -o nowhere/more.html read.tfs more.tfs
grep -q 'cannot write nowhere/more.html: No such file or directory' err || wrong "it is not said what cannot be written"

expect 2 diff read.tfs
expect 2 diff read.tfs none.tfs more.tfs
expect 2 diff
expect 3 diff read.tfs absent.tfs
grep -q 'absent.tfs' err || wrong "the recording that cannot be read is not named"
exit "$failed"
