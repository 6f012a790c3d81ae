#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps are found in graphs, whoever made them and however: steps_graphs.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# The programs are over soon; calls without their callers tell no loop.
after=$programs/../tools/stacks_first.so
export TFSIM_COMPUTE=0 TFSIM_PROFILE=a100

# steps_of WORLD STEPS: runs it, and sets `steps` to how many were found
steps_of() {
	watched "$1" record=all "$programs/steps_graphs" "$1"
	says "$1" "$2 steps"
	"$tfshim" report --quiet "$work/$1.tfs" >/dev/null || fail "$1: no report"
	steps=$(sed -n 's/^steps *\([0-9]*\) training steps after .*; step boundaries from loops$/\1/p' "$work/$1.txt")
}

for world in thread halves child nodes into fused; do
	steps_of "$world" 160
	# Ten iterations go into finding it, or fourteen where kernels do not tell what they do.
	[ "${steps:-0}" -ge 140 ] && [ "$steps" -le 152 ] ||
		fail "$world: of 160 steps: $(sed -n 's/^steps *//p' "$work/$world.txt")"
done
for world in forward reads again; do
	steps_of "$world" 0
	[ "${steps:-0}" = 0 ] || fail "$world: $steps steps of a loop that trains nothing"
done
exit "$failed"
