#!/bin/sh
# SPDX-License-Identifier: MIT
# Windows by step count: what begins late in a run, of whatever length, is found; what is over early is
# not said of the run; and a recording stays within its size: steps_late.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# Calls without their callers tell no loop; time is the model's.
after="$programs/../tools/stacks_first.so $programs/../tools/modelled_clock.so"

# trained NAME OPTIONS STEPS FIRST END: its report, in NAME.json
trained() {
	watched "$1" "$2" "$programs/steps_late" "$3" "$4" "$5"
	[ "$(cat "$work/$1.status")" = 0 ] || fail "$1: $(tail -n 3 "$work/$1.out")"
	"$tfshim" report -f json -o "$work/$1.json" "$work/$1.tfs" >"$work/$1.report" 2>&1 ||
		fail "$1: $(cat "$work/$1.report")"
}

# judged NAME LEAST MOST: the least and most judged steps
judged() {
	count=$(jq '.steps.judged' "$work/$1.json")
	{ [ "$count" -ge "$2" ] && [ "$count" -le "$3" ]; } ||
		fail "$1: $count judged steps, not $2 to $3"
}

# is NAME STATE [STATE]: what TFS201 and TFS401 say
is() {
	states=$(jq -r '[.rules[] | select(.id == "TFS201" or .id == "TFS401") | .state] | join(" ")' "$work/$1.json")
	[ "$states" = "$2 ${3:-$2}" ] || fail "$1: $states, not $2 ${3:-$2}"
}

# each NAME LEAST MOST: how many of these calls a step has, in hundredths
each() {
	for call in cudaStreamSynchronize cudaMalloc; do
		calls=$(jq "[.findings[] | select(.callsite.call == \"$call\") | .per_step.count] |
			unique | map(. * 100 | round) | .[]" "$work/$1.json")
		{ [ "${calls:-0}" -ge "$2" ] && [ "$calls" -le "$3" ]; } ||
			fail "$1: $calls hundredths of a $call per step, not $2 to $3"
	done
}

# A short run is one window.
trained short '' 480 0 480
judged short 48 50
is short violated
each short 100 100
# From the middle on, and from a tenth on: found, in about that part of the steps.
trained half '' 1000 500 1000
is half violated
each half 40 65
trained tenth '' 50000 5000 50000
judged tenth 35 60
is tenth violated
each tenth 80 100
# A phase that only two windows show, which stand for 275 to 1500.
trained phase '' 3000 400 1200
is phase violated
each phase 20 50
# All the while in one run, which has the same figures as before.
trained always '' 3000 0 3000
is always violated
each always 100 100
# What was over when a hundredth of the run was is no habit of it. The first of these waits is so long
# that the totals matter; the allocations take less than a hundredth of the run.
trained over '' 50000 0 450
is over not_measurable passed
[ "$(jq '[.findings[] | select(.callsite.call == "cudaMalloc")] | length' "$work/over.json")" = 0 ] ||
	fail "over: what ended early is found"
# By time alone there is one window, and what began behind it is in the totals.
trained timed window_at=0 1000 500 1000
judged timed 48 50
is timed not_measurable
trained first window_later=0 1000 500 1000
judged first 48 50
is first not_measurable

# bounded NAME: the recording is within its limit of 1 MiB, and nothing was dropped
bounded() {
	[ "$(stat -c %s "$work/$1.tfs")" -le 1048576 ] || fail "$1: larger than its limit"
	[ "$(jq '.losses.records_dropped // 0' "$work/$1.json")" = 0 ] ||
		fail "$1: records were dropped: $(jq -c .losses "$work/$1.json")"
	is "$1" violated
}

# Allocations of 50,000 steps, and windows all along, within little room.
trained small limit=1m 50000 0 50000
bounded small
# Windows of 1,000 steps, of which two would be the whole of it.
trained large limit=1m:window_later=1000 20000 0 20000
bounded large
echo "$(stat -c %s "$work/tenth.tfs") bytes for 50,000 steps, $(stat -c %s "$work/small.tfs") within 1 MiB"
exit "$failed"
