#!/bin/sh
# SPDX-License-Identifier: MIT
# Training steps of a program whose kernels compute nothing on the simulated device:
# blind.sh LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAM LINKED (with a runtime of its own)
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

# watch ENVIRONMENT...: the same is found, whatever the driver tells of kernels.
watch() {
	rm -f "$folder/run.tfs"
	# The program is over soon; calls without their callers tell no loop.
	env "$@" LD_LIBRARY_PATH="$simulated" TFSIM_PACE=0 TFSHIM_OUTPUT="$folder/run" \
		TFSHIM_OPTIONS=report=0 LD_PRELOAD="$library:$simulated/../tools/stacks_first.so" \
		timeout 60 "$program" >"$folder/out" 2>&1 || {
		echo "the program ended with $?"
		cat "$folder/out"
		exit 1
	}
	grep -q '^tfsim: 480 kernels skipped' "$folder/out" || {
		echo "not all kernels were skipped:"
		cat "$folder/out"
		failed=1
	}
	"$tfshim" report "$folder/run.tfs" >"$folder/report" || failed=1
	grep -Eq '^steps +[34][0-9] training steps after ' "$folder/report" || {
		echo "$*: of 60 steps, not 30 to 49 were judged:"
		head -n 8 "$folder/report"
		failed=1
	}
}

library=$1 tfshim=$2 simulated=$3 program=$4
watch TFSIM_UNTOLD=
watch TFSIM_UNTOLD=parameters
program=$5
watch TFSIM_UNTOLD=
# Names are what the runtime asks the driver for.
watch TFSIM_UNTOLD=names
exit "$failed"
