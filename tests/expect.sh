#!/bin/sh
# SPDX-License-Identifier: MIT
# Findings of a program on the simulated device, by the marks in its sources ("expect:", "trap:"):
# expect.sh LIBRARY TFSHIM SIMULATED-LIBRARIES TRAINER SOURCES ARGUMENT...
#
# SOURCES is a list with commas. Once as the program is, once with a search of algorithms that
# changes nothing, once repaired, and once with all of the run recorded.
set -u

here=$(dirname "$0")
library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
program=$(realpath "$4")
sources=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0
IFS=,

# watch NAME SEARCHED REWRITES OPTIONS ARGUMENT...
watch() {
	name=$1 searched=$2 rewrites=$3 options=$4
	shift 4
	# Only counts decide here; keeping the modelled pace would take ten times as long.
	LD_LIBRARY_PATH="$simulated" TFSIM_PACE=0 TFSHIM_OUTPUT="$folder/$name" \
		TFSHIM_REWRITE="$rewrites" TFSHIM_OPTIONS="report=0$options" \
		LD_PRELOAD="$library" timeout 120 "$program" "$@" >"$folder/out" 2>&1 || {
		echo "$name: the program ended with $?"
		tail -n 20 "$folder/out"
		failed=1
		return
	}
	"$tfshim" report --quiet "$folder/$name.tfs" || failed=1
	# shellcheck disable=SC2086 # a list
	python3 "$here/expect.py" "$folder/$name.json" "$searched" $sources >"$folder/wrong" || {
		echo "$name:"
		sed 's/^/  /' "$folder/wrong"
		failed=1
	}
}

watch plain 0 off '' "$@"
watch searched 1 report '' "$@"
watch repaired 1 safe '' "$@"
watch whole 0 off :record=all "$@"
exit "$failed"
