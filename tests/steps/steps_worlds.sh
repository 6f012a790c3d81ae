#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps are found whatever the training loop looks like: steps_worlds.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# The programs are over soon; calls without their callers tell no loop.
after=$programs/../tools/stacks_first.so
export TFSIM_DEVICES=2 TFSIM_COMPUTE=0 TFSIM_PROFILE=a100

worlds=0
for world in plain accumulate outplace graph devices async recursion critic pair fifth rows varying unrolled ahead loader; do
	# Ten iterations go into finding it.
	least=140
	[ "$world" = unrolled ] && least=130 # each of two steps
	worlds=$((worlds + 1))
	watched "$world" record=all "$programs/steps_worlds" "$world"
	says "$world" '160 steps'
	"$tfshim" report --quiet "$work/$world.tfs" >/dev/null || fail "$world: no report"
	steps=$(sed -n 's/^steps *\([0-9]*\) training steps after .*; step boundaries from loops$/\1/p' "$work/$world.txt")
	[ "${steps:-0}" -ge $least ] && [ "$steps" -le 152 ] ||
		fail "$world: of 160 steps: $(sed -n 's/^steps *//p' "$work/$world.txt")"
done
echo "$worlds worlds"
exit "$failed"
