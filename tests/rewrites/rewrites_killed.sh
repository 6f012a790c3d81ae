#!/bin/sh
# SPDX-License-Identifier: MIT
# What acted is told of a program that was killed, too, with the defaults; and where nothing is known
# the report does not say that nothing was done.	rewrites_killed.sh LIBRARY PROGRAMS TFSHIM
set -u
library=$1 programs=$2 tfshim=$3
# shellcheck source=tests/rewrites/rewrite_base.sh
. "${0%/*}/rewrite_base.sh"
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DECISIONS LD_PRELOAD

# Each in a folder of its own: after such an end the next run there keeps its rewrites off.
killed() { # NAME STEPS MODES [OPTIONS]
	env TFSHIM_OUTPUT="$out/$1/run" TFSHIM_OPTIONS=report=0:quiet=1:staging_cores=0${4:+:$4} TFSIM_PACE=0 \
		${3:+TFSHIM_REWRITE=$3} LD_PRELOAD="$(with "")" "$programs/rewrite_killed" "$2" >"$out/$1.out" 2>&1
	status=$?
	[ "$status" = 137 ] || fail "$1: ended with $status, not killed: $(cat "$out/$1.out")"
	"$tfshim" report --color never "$out/$1/run.tfs" >"$out/$1.txt" 2>&1
	status=$?
	[ "$status" -le 2 ] || fail "$1: report ends with $status"
	sed -n '/^FIXED FOR YOU/,/^$/p' "$out/$1.txt"
}

killed early 5 ""
grep -qE '^FIXED FOR YOU.*not known|to at least 0 calls' "$out/early.txt" || fail "early: it is not said that nothing is known"
! grep -qE 'FIXED FOR YOU nothing|not enabled in this run|applied to 0' "$out/early.txt" || fail "early: the report denies"

# Before anything is measured, and after.
killed acting 200 "" measure=0
killed late 400 ""
for name in acting late; do
	for one in pinned-staging alloc-pool memoise; do
		[ "$(ledger $name/run "$one applied")" -gt 0 ] || fail "$name: $one acted, and that is not told"
		grep -q "^  $one .*to at least" "$out/$name.txt" ||
			fail "$name: how often $one acted is told as if it were known"
	done
	! grep -q 'not enabled in this run' "$out/$name.txt" || fail "$name: the report denies"
done

killed shadow 400 pinned-staging=shadow
[ "$(ledger shadow/run "pinned-staging applied")" -gt 0 ] || fail "shadow: what was tried out is not told"
echo "4 programs killed, $failed failures"
[ "$failed" = 0 ]
