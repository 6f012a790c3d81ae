#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a trainer and judges what it prints or writes.
#
#   test.sh learns PROGRAM ARGS...             the loss falls to half of what it was
#   test.sh accurate PROGRAM ARGS...           at least 95 % of the held-out digits are right
#   test.sh repeats WEIGHTS PROGRAM ARGS...    two runs leave the same bits
#   test.sh agrees WEIGHTS TOLERANCE OTHER PROGRAM ARGS...   two programs leave nearly the same
#   test.sh alike OTHER PROGRAM ARGS...        two programs tell nearly the same loss
#   test.sh refuses MESSAGE PROGRAM ARGS...    it ends with a status above 0 and that message
set -u

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
	echo "FAILED: $1"
	cat "$dir"/*.out 2>/dev/null
	exit 1
}

kind=$1
shift
case $kind in
learns)
	"$@" >"$dir/1.out" 2>&1 || fail "status $?"
	cat "$dir/1.out"
	awk '/^step / { if (!first) first = $4; last = $4 } END { exit !(last < first / 2) }' \
		"$dir/1.out" || fail "the loss did not fall to half"
	;;
accurate)
	"$@" --quiet >"$dir/1.out" 2>&1 || fail "status $?"
	cat "$dir/1.out"
	awk '/^result: / { right = $6 } END { exit !(right >= 95) }' "$dir/1.out" ||
		fail "below 95 %"
	;;
repeats)
	weights=$1
	shift
	for run in 1 2; do
		"$@" --deterministic --quiet --dump "$dir/$run.dump" >"$dir/$run.out" ||
			fail "status $?"
		grep -v '^time:' "$dir/$run.out" >"$dir/$run.text"
	done
	cmp "$dir/1.text" "$dir/2.text" || fail "two runs print different things"
	"$weights" "$dir/1.dump" "$dir/2.dump" 0 || fail "two runs leave different weights"
	;;
agrees)
	weights=$1 tolerance=$2 other=$3
	shift 3
	"$@" --dump "$dir/1.dump" >"$dir/1.out" 2>&1 || fail "status $?"
	shift
	"$other" "$@" --dump "$dir/2.dump" >"$dir/2.out" 2>&1 || fail "$other: status $?"
	"$weights" "$dir/1.dump" "$dir/2.dump" "$tolerance" || fail "the weights differ"
	;;
alike)
	other=$1
	shift
	"$@" --quiet >"$dir/1.out" 2>&1 || fail "status $?"
	shift
	"$other" "$@" --quiet >"$dir/2.out" 2>&1 || fail "$other: status $?"
	cat "$dir"/*.out | awk '/^result: / { loss[++n] = $5; off = loss[1] / $5 - 1 }
		END { exit !(n == 2 && off < 0.0002 && off > -0.0002) }' || fail "the losses differ"
	;;
refuses)
	message=$1
	shift
	"$@" >"$dir/1.out" 2>&1 && fail "status 0"
	grep -q "$message" "$dir/1.out" || fail "no '$message' in what it says"
	;;
esac
