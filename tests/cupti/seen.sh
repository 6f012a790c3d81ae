#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls seen by hooks against calls seen by CUPTI, in reports of real runs on the simulated device:
# seen.sh SHIM TFSHIM PROGRAMS SIMULATED-LIBRARIES
set -u

shim=$1 tfshim=$2 programs=$3
export LD_LIBRARY_PATH="$4"
export TFSIM_PACE=0 TFSIM_SCALE=1 TFSHIM_REWRITE=off
unset TFSHIM_OPTIONS TFSHIM_OUTPUT LD_PRELOAD TFSIM_CUPTI
failed=0 first=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME OPTIONS [VARIABLE=VALUE...] WAY [deep]: the report is $work/NAME.json
run() {
	name=$1
	options=$2
	shift 2
	way=
	while [ "${1#*=}" != "$1" ]; do
		export "$1"
		way="$way ${1%%=*}"
		shift
	done
	TFSHIM_OUTPUT=$work/$name TFSHIM_OPTIONS="report=0:window=30:$options" LD_PRELOAD=$shim${first:+:$first} \
		timeout 60 "$programs/cupti_hidden" "$@" >"$work/$name.out" 2>&1 || {
		echo "$name: the program ended with $?"
		cat "$work/$name.out"
		failed=1
	}
	[ -z "$way" ] || unset $way
	"$tfshim" report --format json --output "$work/$name.json" "$work/$name.tfs" >/dev/null 2>&1 ||
		echo "$name: no report"
}

# says JQ-FILTER TEXT: what the filter gives begins with the text
says() {
	got=$(jq -r "$1" "$work/$name.json")
	case $got in
	"$2"*) ;;
	*)
		echo "$name: $1 is '$got', not '$2'"
		failed=1
		;;
	esac
}
verdict='.rules[] | select(.id == "TFS904") | .state + ": " + .reason'
finding='[.findings[] | select(.id == "TFS904") | .message] | join("")'
compared='.visibility.facts[] | select(.key == "compared") | .text'
runtimes='.visibility.facts[] | select(.key == "runtimes") | .text'
seen() { # FUNCTION HOOKS CUPTI
	says ".visibility.functions[] | select(.function == \"$1\") | \"\(.hooks) \(.cupti)\"" "$2 $3"
}

run plain '' plain
says "$verdict" 'passed: hook and CUPTI call counts agree (3 functions)'
says "$compared" '3 functions agree: 150 calls seen by hooks, 150 by CUPTI'
says "$runtimes" 'none'
seen cudaMemcpy 90 90

run lookup '' lookup
says "$verdict" 'violated'
says "$finding" 'cudaMemcpy: 30 calls seen by hooks, 90 by CUPTI'
says "$runtimes" 'inside no call that a hook saw: 60 copies'
seen cudaMemset 30 30

# A runtime inside a library: seen at the driver, or not, or one of NVIDIA's own.
cp "$programs/libcupti_private.so" "$work/plugin.so"
cp "$programs/libcupti_private.so" "$work/libnccl_private.so"
run plugin '' "$work/plugin.so"
says "$verdict" 'passed'
seen cuMemsetD8_v2 60 60
run undriven driver=0 "$work/plugin.so"
says "$finding" 'cuMemsetD8_v2: 0 calls seen by hooks, 60 by CUPTI; cuMemcpyDtoH_v2: 0 calls'
run private '' "$work/libnccl_private.so"
says "$finding" 'cuMemsetD8_v2: 0 calls seen by hooks, 60 by CUPTI'
says "$runtimes" 'inside no call that a hook saw: 30 copies, 60 memsets'

# Opened so that its calls go past the hooks, unless the flag is taken away.
run deep '' "$programs/libcupti_deep.so" deep
says "$finding" 'cudaMemset: 30 calls seen by hooks, 90 by CUPTI; cudaMemcpy: 90 calls seen by hooks, 120'
run stripped deepbind=0 "$programs/libcupti_deep.so" deep
says "$verdict" 'passed'
seen cudaMemset 90 90

# What was lost is no evidence, and without CUPTI there is none.
run dropped '' TFSIM_CUPTI=drops lookup
says "$verdict" 'not_measurable: hook and CUPTI call counts cannot be compared'
says "$compared" 'not comparable: '
says '.losses.cupti_dropped > 0' true
# Nothing tells the program when CUPTI has refused: its main() is to begin after that.
first=$programs/../tools/stacks_first.so
run refused '' TFSIM_CUPTI=refuse lookup
first=
says "$compared" "not comparable: no window has CUPTI records, CUPTI: not available: in use by"
says "$runtimes" 'not measurable: CUPTI recorded no calls'
# It took part, and refuses when it is to record: that is not tried for ever.
run tired window=70 TFSIM_CUPTI=tires slow
says '.measured[] | select(.key == "cupti") | .text' 'stopped at step 1: CUPTI refused to record'
says "$compared" "not comparable: no window has CUPTI records, CUPTI: stopped at step 1"
says '.steps.judged' 69
run unwanted cupti=0 lookup
says "$verdict" "not_measurable: hook and CUPTI call counts cannot be compared: no window"
exit "$failed"
