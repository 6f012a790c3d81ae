#!/bin/sh
# SPDX-License-Identifier: MIT
# Where nothing updates weights, iterations of the loop with most calls stand for steps, and what they
# show is a note: steps_dominant.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# Calls without their callers tell no loop; time is the model's.
after="$programs/../tools/stacks_first.so $programs/../tools/modelled_clock.so"
export TFSIM_COMPUTE=0 TFSIM_PROFILE=a100

# seen NAME WORLD ROUNDS [OPTIONS]
seen() {
	compare "$1" "${4:-}" "$programs/steps_dominant" "$2" "$3"
	"$tfshim" report --format text -o "$work/$1.txt" "$work/$1.tfs" || fail "$1: no text"
	"$tfshim" report --format json -o "$work/$1.json" "$work/$1.tfs" || fail "$1: no report"
	"$tfshim" check "$work/$1.tfs" >"$work/$1.check" 2>&1
	status=$?
}

# holds NAME FILTER: of its JSON
holds() {
	[ "$(jq "$2" "$work/$1.json")" = true ] ||
		fail "$1: not so: $2: $(jq -c '[.steps.count, .steps.source, .verdict, [.findings[] | [.id, .level, .per_step.count]]]' "$work/$1.json")"
}

# More calls than the search takes to give training up. The windows are of iterations.
seen served inference 52000
holds served '.steps.source == "iterations" and .steps.count > 500 and .steps.judged >= 40'
holds served '.verdict.usable == false and (.verdict.text | contains("no weight update was seen"))'
holds served '[.findings[] | select(.level != "note")] == []'
holds served '[.findings[] | select(.id == "TFS101") | .per_step.count] == [1]'
grep -q 'no weight update was seen; .* iterations of the loop with most calls' "$work/served.txt" ||
	fail "served: the text does not say what its steps are"
[ "$status" = 3 ] || fail "served: iterations pass the gate, or break it: $status"

# Recorded in full, they are found after the run, which may be over before CUPTI is asked.
seen recorded inference 60 record=all
holds recorded '.steps.source == "iterations" and .steps.count >= 58 and .steps.count <= 60'
holds recorded '[.findings[] | select(.id == "TFS201") | [.level, .per_step.count]] == [["note", 1]]'

# Training that comes later, after what looked like the program's work, is the step.
seen prepared prepare 52000
holds prepared '.steps.source == "loops" and .steps.count >= 135 and .steps.count <= 152'
holds prepared '[.calls[] | select(.callsite.call == "cublasSaxpy_v2") | .per_step.count] | add == 3'
[ "$status" != 3 ] || fail "prepared: not judged: $(cat "$work/prepared.check")"

# A loop that does nothing on the device is no work.
seen polled poll 330000
holds polled '.steps.source == null and .steps.count == 0'
exit "$failed"
