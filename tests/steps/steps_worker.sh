#!/bin/sh
# SPDX-License-Identifier: MIT
# Steps are found in whichever thread takes them: steps_worker.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/../life/shim_common.sh"
# The programs are over soon; calls without their callers tell no loop.
after=$programs/../tools/stacks_first.so

for threads in 1 2; do
	compare "threads$threads" '' "$programs/steps_worker" "$threads"
	look "threads$threads"
	expect "threads$threads" fact steps found
done

# A step that ends as it begins: each is marked.
compare round record=all "$programs/steps_worker" 1 round
look round
expect round fact steps found
marks=$(value round marks)
[ "$marks" -ge 100 ] || fail "round: only $marks of 150 steps are marked"
exit "$failed"
