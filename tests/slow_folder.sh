#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder for recordings that does not answer keeps the program neither from its work nor from its
# end; when it answers late, the recording is whole: slow_folder.sh LIBRARY TFSHIM PROGRAMS
set -u

library=$(realpath "$1") tfshim=$(realpath "$2") programs=$(realpath "$3")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# start NAME VARIABLE=FILE: to its end; 124 when there is none
start() {
	rm -f "$out/worked"
	env TFSHIM_OUTPUT="$out/$1" TFSIM_PACE=0 "$2" TFSHIM_OPTIONS="report=0:record=none:measure=0:staging_cores=0" \
		TFSHIM_REWRITE=off,pinned-staging LD_PRELOAD="$programs/slow_folder.so:$library" \
		timeout 100 "$programs/rewrite_ending" tell "$out/worked" >"$out/$1.said" 2>&1
	status=$?
	[ "$status" = 0 ] || fail "$1: status $status"
	[ -e "$out/worked" ] || fail "$1: the program did not do its work"
}

says() {
	[ "$(grep -c "$2" "$out/$1.said")" = 1 ] || fail "$1: not said '$2' but: $(cat "$out/$1.said")"
}

# The program makes 40 copies.
whole() {
	"$tfshim" report "$out/$1.tfs" >"$out/$1.report" 2>&1 || fail "$1: $(cat "$out/$1.report")"
	sed -n '/"call": "cudaMemcpy"/,/"count"/p' "$out/$1.json" | grep -q '"count": 40,' ||
		fail "$1: not 40 copies"
}

start prompt SLOW_FOLDER_NOTHING=1
whole prompt
says prompt "rewrites are on"

start late SLOW_FOLDER_ANSWERS="$out/worked"
whole late
says late "does not answer: rewrites are off"
[ "$("$programs/ledger" "$out/late.tfs" | sed -n 's/^pinned-staging applied //p')" = 0 ] ||
	fail "late: a rewrite acted"
grep -q "off, as the folder for the recording did not answer" "$out/late.txt" ||
	fail "late: the report does not say so"

start never SLOW_FOLDER_ANSWERS="$out/never-there"
[ ! -e "$out/never.tfs" ] || fail "never: a recording"
says never "does not answer: rewrites are off"
says never "did not answer for 10 s: nothing is recorded"

start stuck SLOW_FOLDER_STUCK="$out/worked"
says stuck "did not answer for 10 s: the recording is not whole"
[ -e "$out/stuck.tfs" ] || fail "stuck: no recording"

echo "4 folders"
exit "$failed"
