#!/bin/sh
# SPDX-License-Identifier: MIT
# A loop that only looks like training is given up for the one that is: steps_evaluation.sh SHIM
# PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# Calls without their callers tell no loop.
after=$programs/../tools/stacks_first.so

# trained NAME STEPS BEFORE STEPS AFTER UPDATE: at least so many steps are marked, all of training
trained() {
	name=$1
	least=$2
	shift 2
	compare "$name" '' "$programs/steps_evaluation" "$@"
	"$tfshim" report -f json -o "$work/$name.json" "$work/$name.tfs" >"$work/$name.report" 2>&1
	steps=$(jq '.steps.count' "$work/$name.json")
	{ [ "$steps" -ge "$least" ] && [ "$steps" -le "$2" ]; } ||
		fail "$name: $steps training steps, not $least to $2"
	products=$(jq '[.calls[] | select(.callsite.call | startswith("cublasSgemm"))
		| .per_step.count] | add' "$work/$name.json")
	[ "$products" = 10 ] || fail "$name: $products matrix products in a step, not 10"
}

for update in known kernel; do
	trained "first-$update" 80 40 100 40 "$update"
	trained "last-$update" 60 0 100 400 "$update"
done
trained both-kernel 250 30 300 600 kernel
exit "$failed"
