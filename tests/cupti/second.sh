#!/bin/sh
# SPDX-License-Identifier: MIT
# Another user of CUPTI comes along: he gets it, and the report says so by name.
# second.sh SHIM TFSHIM PROGRAMS SIMULATED-LIBRARIES
set -u

shim=$1 tfshim=$2 programs=$3
export LD_LIBRARY_PATH="$4"
export TFSIM_PACE=0 TFSIM_SCALE=1 TFSHIM_REWRITE=off
unset TFSHIM_OPTIONS TFSHIM_OUTPUT LD_PRELOAD TFSIM_CUPTI
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong() {
	echo "$1"
	failed=1
}

# run NAME OPTIONS PROGRAM ARGUMENT...: it must do as without tfshim; the report is $work/NAME.json
run() {
	name=$1
	options=$2
	shift 2
	timeout 60 "$@" >"$work/alone" 2>"$work/err" ||
		wrong "$name: alone it ended with $?: $(cat "$work/alone")"
	TFSHIM_OUTPUT=$work/$name TFSHIM_OPTIONS="report=0:$options" LD_PRELOAD=$shim \
		timeout 60 "$@" >"$work/$name.out" 2>"$work/err" ||
		wrong "$name: the program ended with $?: $(cat "$work/$name.out")"
	cmp -s "$work/alone" "$work/$name.out" || wrong "$name: differs: $(cat "$work/$name.out")"
	"$tfshim" report --format json --output "$work/$name.json" "$work/$name.tfs" >/dev/null 2>&1 ||
		wrong "$name: no report"
}

# says JQ-FILTER PATTERN: what the filter gives fits the shell's pattern
says() {
	got=$(jq -r "$1" "$work/$name.json")
	case $got in
	$2) ;;
	*) wrong "$name: $1 is '$got', not '$2'" ;;
	esac
}
cupti='.measured[] | select(.key == "cupti") | .text'
device='.visibility.facts[] | select(.key == "device") | .text'
judged='.steps.judged'

# In the window that is open, and between two.
for how in v1 v2 unsubscribed; do
	run "$how" window=200 "$programs/cupti_second" $how 100
	says "$cupti" 'active in windows until step *, then left to libprofiler.so'
	says "$device" recorded
	says "$judged" '9?'
done
run between window=30 "$programs/cupti_second" v1 100
says "$cupti" 'active in windows until step 100, then left to libprofiler.so'
says "$judged" '[23]?'
run everything record=all "$programs/cupti_second" v1 100
says "$cupti" 'active in windows until step *, then left to libprofiler.so'
# CUPTI may hold an empty buffer of ours when the other one comes.
export TFSIM_CUPTI=holds
run held window=200 "$programs/cupti_second" v1 100
says "$cupti" 'active in windows until step *, then left to libprofiler.so'
run held-lent window=60 "$programs/cupti_second" v1 100 lend
says "$cupti" '*used again from step 119'
unset TFSIM_CUPTI
run lookup window=200 "$programs/cupti_second_lookup" v1 100
says "$cupti" 'active in windows until step *, then left to libprofiler_lookup.so'

# Before tfshim looks for it.
run early window=200 "$programs/cupti_second" v1 0
says "$cupti" 'not used: left to libprofiler.so'
run early-unsubscribed window=200 "$programs/cupti_second" unsubscribed 0
says "$cupti" 'not used: left to libprofiler.so'

# It is not taken from him again.
run insisted window=60 "$programs/cupti_second" v2 100 insist
says "$cupti" 'active in windows until step 100, then left to libprofiler.so; not available: in use by *second*'

# Lent by the program, and by an option.
run lent window=60 "$programs/cupti_second" v1 100 lend
says "$cupti" 'active in windows until step 100, then released by the program; used again from step 119'
run inside window=60 "$programs/cupti_second" v1 20 lend
says "$cupti" 'active in windows until step 20, then released by the program; used again from step 39'
says "$device" recorded
# As many as are judged of a run with two windows, of over 70 that were recorded.
says "$judged" 60
run option window=60:cupti_off=20-45 "$programs/cupti_second" v1 22
says "$cupti" 'active in windows until step 20, then released by the option cupti_off; used again from step 46'
says "$device" recorded
says "$judged" 60
exit "$failed"
