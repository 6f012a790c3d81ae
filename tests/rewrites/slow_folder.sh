#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder for recordings that does not answer keeps the program neither from its work nor from its
# end; when it answers late, the recording is whole: slow_folder.sh LIBRARY TFSHIM PROGRAMS
set -u

library=$(realpath "$1") tfshim=$(realpath "$2") programs=$(realpath "$3")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0 folders=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# start NAME VARIABLE=FILE [WAY]: to its end; 124 when there is none
start() {
	rm -rf "$out/worked"
	mkdir "$out/$1"
	folders=$((folders + 1))
	env TFSHIM_OUTPUT="$out/$1/$1" TFSIM_PACE=0 SLOW_FOLDER="$out/$1" "$2" \
		TFSHIM_OPTIONS="report=0:record=none:measure=0:staging_cores=0" \
		TFSHIM_REWRITE="${rewrite:-off,pinned-staging}" LD_PRELOAD="$programs/slow_folder.so:$library" \
		timeout 100 "$programs/rewrite_ending" tell "$out/worked" ${3-} >"$out/$1.said" 2>&1
	status=$?
	[ "$status" = 0 ] || fail "$1: status $status"
	[ -e "$out/worked" ] || fail "$1: the program did not do its work"
}

# off NAME WHY: no rewrite acted, and it is said why
off() {
	whole "$1"
	says "$1" "does not respond: rewrites are off"
	says "$1" "rewrites are o"
	[ "$("$programs/../tools/ledger" "$out/$1/$1.tfs" | sed -n 's/^pinned-staging applied //p' | sort -u)" = 0 ] ||
		fail "$1: a rewrite acted"
	tr -s ' \n' ' ' <"$out/$1/$1.txt" |
		grep -q "rewrites off, because the recording's file system did not respond $2" ||
		fail "$1: the report does not say so"
}

says() {
	[ "$(grep -c "$2" "$out/$1.said")" = 1 ] || fail "$1: not said '$2' but: $(cat "$out/$1.said")"
}

# The program makes 40 copies.
whole() {
	"$tfshim" report "$out/$1/$1.tfs" >"$out/$1.report" 2>&1 || fail "$1: $(cat "$out/$1.report")"
	sed -n '/"call": "cudaMemcpy"/,/"count"/p' "$out/$1/$1.json" | grep -q '"count": 40,' ||
		fail "$1: not 40 copies"
}

start prompt SLOW_FOLDER_NOTHING=1
whole prompt
says prompt "rewrites are on"

start late SLOW_FOLDER_ANSWERS="$out/worked"
off late "at the start"

start unread SLOW_FOLDER_READS="$out/worked"
off unread "at the start"

# The file of decisions, which none but this one reads.
rewrite=off,cudnn-search=report
start undecided SLOW_FOLDER_READS="$out/worked"
rewrite=
off undecided "at the start"

start unmarked SLOW_FOLDER_MARKS="$out/worked"
off unmarked "before the first rewrite acted"
[ -z "$(find "$out/unmarked" -name '*.acting-*')" ] || fail "unmarked: a mark is left"

for way in return _exit; do
	start "stays$way" SLOW_FOLDER_UNMARKS="$out/never-there" "$way"
	says "stays$way" "rewrites are on"
	[ "$(find "$out/stays$way" -name '*.acting-*' | wc -l)" = 1 ] || fail "stays$way: not one mark"
done
says staysreturn "did not respond for 10 s: the recording is incomplete"

start never SLOW_FOLDER_ANSWERS="$out/never-there"
[ ! -e "$out/never/never.tfs" ] || fail "never: a recording"
says never "does not respond: rewrites are off"
says never "did not respond for 10 s: nothing is recorded"

start stuck SLOW_FOLDER_STUCK="$out/worked"
says stuck "did not respond for 10 s: the recording is incomplete"
[ -e "$out/stuck/stuck.tfs" ] || fail "stuck: no recording"

echo "$folders folders"
exit "$failed"
