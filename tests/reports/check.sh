#!/bin/sh
# SPDX-License-Identifier: MIT
# The exit statuses of `tfshim check`: check.sh TFSHIM RECORD
set -u

tfshim=$(realpath "$1")
record=$(realpath "$2")
recordings=$(realpath "$(dirname "$0")/../fuzz/corpus/report")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

make() {
	"$record" "$@" || { echo "check.sh: cannot record $1"; exit 1; }
}

# expect STATUS ARGUMENT...
expect() {
	want=$1
	shift
	"$tfshim" check "$@" >out 2>err
	got=$?
	if [ "$got" != "$want" ]; then
		echo "check.sh: 'check $*' ended with $got, not $want:"
		sed 's/^/  /' out err
		failed=1
	fi
	# Whoever gets 2 or 3 must be told why.
	if [ "$want" -ge 2 ] && [ ! -s err ]; then
		echo "check.sh: 'check $*' ended with $want and said nothing"
		failed=1
	fi
}

# said WORD: in what the last check printed
said() {
	grep -q -- "$1" out err || {
		echo "check.sh: '$1' was not said:"
		sed 's/^/  /' out err
		failed=1
	}
}

make slow.tfs
make clean.tfs copies=0
make more.tfs copies=2
make bigger.tfs bytes=2097152
make fewer.tfs copies=0
make extra.tfs copies=0 pageable=0 extra=1
make rebuilt.tfs moved=65536
make steps.tfs steps=0
make dark.tfs device=0
make nameless.tfs machine=0
head -c 20000 slow.tfs >cut.tfs
head -c 100 slow.tfs >stump.tfs
echo "this is no recording" >text.tfs
: >empty.tfs
# The version is the number at byte 8: the one before ours, and one to come.
cp slow.tfs old.tfs
printf '\001' | dd of=old.tfs bs=1 seek=8 conv=notrunc status=none
cp slow.tfs new.tfs
printf '\377' | dd of=new.tfs bs=1 seek=8 conv=notrunc status=none

expect 0 clean.tfs
said 'TFS601 conv-algo-not-searched  not applicable: the program does not call cuDNN'
"$tfshim" report -q -f json -o clean.json clean.tfs || echo "check.sh: no JSON"
passed=$(jq '[.rules[] | select(.state == "passed")] | length' clean.json)
[ "$passed" -gt 10 ] || { echo "check.sh: only $passed rules passed"; failed=1; }
said "rules passed: $passed; not looked for: [0-9]*"
rm -f clean.json
expect 1 slow.tfs
said TFS101
expect 1 clean.tfs slow.tfs

expect 0 slow.tfs --fail-on never
expect 1 slow.tfs --fail-on note
expect 1 slow.tfs --fail-on warn
expect 0 clean.tfs --fail-on note
expect 0 slow.tfs --ignore TFS101
expect 0 slow.tfs --ignore pageable-copy,TFS2
expect 0 slow.tfs --select TFS2
expect 1 slow.tfs --select TFS1
expect 1 slow.tfs --select tfs101

expect 0 slow.tfs --baseline slow.tfs
expect 0 clean.tfs --baseline slow.tfs
expect 0 fewer.tfs --baseline slow.tfs
expect 0 rebuilt.tfs --baseline slow.tfs
expect 1 more.tfs --baseline slow.tfs
said '2 calls/step, 1 in the baseline'
expect 1 bigger.tfs --baseline slow.tfs
said '2.00 MiB/step'
expect 1 extra.tfs --baseline clean.tfs
said '\[new\]'
expect 1 slow.tfs --baseline clean.tfs

# One cause, one line; of those that are known in part, what is not.
make twice.tfs extra=2
make once.tfs extra=2 read=65536
expect 1 twice.tfs --color never
said '^x error TFS101 pageable-copy  .*cudaMemcpy  1 call/step, costs'
said '^x error TFS101 pageable-copy + TFS202 hidden-sync + TFS203 read-back-each-step  .*cudaMemcpy  2 calls/step, costs'
said 'causes: 2, findings: 4, failing the gate: 4$'
[ "$(grep -c '^[x!i] ' out)" = 2 ] || { echo "check.sh: two causes are not two lines"; cat out; failed=1; }
expect 1 twice.tfs --color never --baseline once.tfs
said 'TFS101 .* + TFS202 .* + TFS203 .*  \[not known or worse: 1 of 3 findings\]$'
said '^        error TFS203 read-back-each-step  .*  2 calls/step  \[new\]$'
said 'failing the gate: 1; known: 3, new: 1, worse: 0$'
expect 0 twice.tfs --baseline twice.tfs
[ "$(grep -c '\[known\]$' out)" = 2 ] || { echo "check.sh: two causes are not both known"; cat out; failed=1; }
# A wait and the copy that it waits for are at two call sites.
expect 0 "$recordings/rule_203_bad.tfs"
# A finding about the whole program has no calls to count.
said 'TFS905 too-few-steps  the whole program$'
said 'TFS203 .* + TFS201 .*  1 call/step, first of 2 call sites'

# A recording that is its own baseline passes, and is told to; a folder's is named by its file.
expect 0 slow.tfs --baseline slow.tfs
said 'slow.tfs: the baseline is this recording itself'
ln -s slow.tfs other.tfs
expect 0 other.tfs --baseline slow.tfs
said 'other.tfs: the baseline is this recording itself'
cp slow.tfs copy.tfs
mkdir kept && cp slow.tfs kept/
expect 0 copy.tfs --baseline kept
! grep -q 'the baseline is this recording itself' out err || { echo "check.sh: a copy is taken for itself"; failed=1; }
expect 0 clean.tfs --baseline kept
said 'cp clean.tfs kept/slow.tfs$'
# A report is no recording.
"$tfshim" report --quiet copy.tfs
for made in txt json html; do
	expect 3 slow.tfs --baseline "copy.$made"
	said "copy.$made: not a tfshim recording"
	said "copy.$made: this is a report"
	expect 3 "copy.$made"
	said 'name the recording (.tfs)'
done
rm copy.*
mkfifo pipe.tfs
expect 3 pipe.tfs
expect 3 slow.tfs --baseline pipe.tfs

expect 2
expect 2 slow.tfs --select TFS999
expect 2 slow.tfs --ignore nonsense
expect 2 slow.tfs --fail-on fatal
expect 2 slow.tfs --no-such-option
expect 2 slow.tfs --baseline
expect 2 slow.tfs --color pink

expect 3 absent.tfs
said 'absent.tfs'
expect 3 steps.tfs
expect 3 dark.tfs
# What a copy costs, and so whether it breaks the gate, depends on the device.
expect 3 nameless.tfs
said 'does not name the GPU'
expect 3 cut.tfs
expect 3 stump.tfs
expect 3 text.tfs
for other in old new; do
	expect 3 $other.tfs
	[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || { echo "check.sh: $other.tfs is not refused in one line"; failed=1; }
done
said 'new.tfs: recorded by a newer tfshim'
expect 3 old.tfs
said 'old.tfs: recorded by an older tfshim, .* record the program again'
expect 3 empty.tfs
expect 3 slow.tfs --baseline steps.tfs
expect 3 slow.tfs --baseline absent.tfs

# A folder, in which a helper that put no work on a device lies beside what it helped.
mkdir helped helper blind
cp clean.tfs helped/
cp steps.tfs helped/
cp steps.tfs helper/
cp clean.tfs dark.tfs blind/
expect 0 helped
said 'steps.tfs: not judged: trainer put no work on a GPU'
expect 0 helped --baseline helped
expect 3 helper
expect 3 blind
expect 3 helped/clean.tfs helped/steps.tfs

# 2 before 3 before 1
expect 3 slow.tfs steps.tfs
expect 2 absent.tfs --select TFS999
expect 2 steps.tfs slow.tfs --fail-on fatal

# Nothing lies beside the recordings: a gate only reads.
for file in *.html *.json *.txt; do
	[ ! -e "$file" ] || { echo "check.sh: $file was written"; failed=1; }
done
exit "$failed"
