#!/bin/sh
# SPDX-License-Identifier: MIT
# Weights whose addresses kernels get in a structure tell the step; what else is in one does not:
# steps_structures.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# Calls without their callers tell no loop.
after=$programs/../tools/stacks_first.so

# seen NAME OPTIONS WORLD FILTER: of its JSON
seen() {
	compare "$1" "$2" "$programs/steps_structures" "$3"
	"$tfshim" report -f json -o "$work/$1.json" "$work/$1.tfs" || fail "$1: no report"
	[ "$(jq "$4" "$work/$1.json")" = true ] || fail "$1: not so: $4: $(jq -c .steps "$work/$1.json")"
}

steps='.steps.source == "loops" and .steps.count >= 60 and .steps.count + .steps.warmup >= 159'
for world in lists threads; do
	seen "$world" '' "$world" "$steps"
	seen "$world-all" record=all "$world" "$steps"
done
seen beside '' beside '.steps.source == "loops" and .steps.count >= 40 and .steps.count <= 100'
for world in constants inference; do
	seen "$world" '' "$world" '.steps.source != "loops" and .verdict.usable == false'
	seen "$world-all" record=all "$world" '.steps.source == "iterations" and .verdict.usable == false'
done
exit "$failed"
