#!/bin/sh
# SPDX-License-Identifier: MIT
# Training steps of a program whose kernels compute nothing on the simulated device:
# blind.sh LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAM
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
# The program is over soon; calls without their callers tell no loop.
LD_LIBRARY_PATH="$3" TFSIM_PACE=0 TFSHIM_OUTPUT="$folder/run" TFSHIM_OPTIONS=report=0 \
	LD_PRELOAD="$1:$3/../tools/stacks_first.so" timeout 60 "$4" >"$folder/out" 2>&1 || {
	echo "the program ended with $?"
	cat "$folder/out"
	exit 1
}
failed=0
grep -q '^tfsim: 480 kernels skipped' "$folder/out" || {
	echo "not all kernels were skipped:"
	cat "$folder/out"
	failed=1
}
"$2" report "$folder/run.tfs" >"$folder/report" || failed=1
grep -Eq '^steps +[34][0-9] training steps after ' "$folder/report" || {
	echo "of 60 steps, not 30 to 49 were judged:"
	head -n 8 "$folder/report"
	failed=1
}
exit "$failed"
