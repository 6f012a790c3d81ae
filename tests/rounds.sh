#!/bin/sh
# SPDX-License-Identifier: MIT
# Are the tests green on a busy machine, every time? Runs them again and again beside stress-ng on
# every core.
#
#   sh tests/rounds.sh [--rounds N] [--filter WORD]
#
#   --rounds N     20
#   --filter WORD  only tests with WORD in their name or suite
#
# Prints how each round ended, then each test that failed with the number of rounds it failed in.
# The output of every round is kept in build/rounds. Hours: a round takes two to three times as long
# as sh tests/run.sh. The last line is "N passed, N failed": rounds.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
rounds=20
filter=
while [ $# -gt 0 ]; do
	case $1 in
	--rounds | --filter) [ $# -gt 1 ] || { echo "rounds: $1 needs a value" >&2; exit 2; } ;;
	esac
	case $1 in
	--rounds) rounds=$2 ;;
	--filter) filter=$2 ;;
	*)
		sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
		[ "$1" = --help ] || exit 2
		exit 0
		;;
	esac
	shift 2
done
command -v stress-ng >/dev/null || { echo "rounds: needs stress-ng: apt-get install stress-ng" >&2; exit 2; }
unset CI

kept=build/rounds
rm -rf "$kept"
mkdir -p "$kept"
stress-ng --quiet --cpu "$(nproc)" &
stress=$!
trap 'kill "$stress" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

passed=0
for round in $(seq 1 "$rounds"); do
	start=$(date +%s)
	status=0
	sh tests/run.sh ${filter:+--filter "$filter"} >"$kept/$round.txt" 2>&1 || status=$?
	[ "$status" -ne 0 ] || passed=$((passed + 1))
	echo "round $round of $rounds: $(tail -n 1 "$kept/$round.txt") in $((($(date +%s) - start + 30) / 60)) min"
	kill -0 "$stress" 2>/dev/null || { echo "rounds: stress-ng ended early" >&2; exit 1; }
done
sed -n 's/^FAILED \([^:]*\):.*/\1/p' "$kept"/*.txt | sort | uniq -c | sort -rn
echo
echo "$passed passed, $((rounds - passed)) failed"
[ "$passed" -eq "$rounds" ]
