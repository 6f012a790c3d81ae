#!/bin/sh
# SPDX-License-Identifier: MIT
# A program without a training step: the report is of the whole run. steps_none.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# The program is over soon; calls without their callers are of no line.
after=$programs/../tools/stacks_first.so

for way in pageable pinned once; do
	compare "$way" record=all "$programs/steps_none" "$way"
done
compare counted '' "$programs/steps_none" pageable
for way in pageable pinned once counted; do
	"$tfshim" report --format json -o "$work/$way.json" "$work/$way.tfs" || fail "$way: no report"
	"$tfshim" check "$work/$way.tfs" >/dev/null 2>&1
	[ $? = 3 ] || fail "$way: what could not be judged passes the gate"
done
python3 "$(dirname "$0")/steps_none.py" "$work" || failed=1
exit "$failed"
