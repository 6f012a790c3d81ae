#!/bin/sh
# SPDX-License-Identifier: MIT
# Findings of a program on the simulated device, by the marks in its sources ("expect:", "trap:"):
# expect.sh [--profile NAME | --modelled FILE | --gpu FILE] LIBRARY TFSHIM SIMULATED-LIBRARIES TRAINER SOURCES ARGUMENT...
#
# SOURCES is a list with commas. Once as the program is, once with a search of algorithms that
# changes nothing, once repaired, and once with all of the run recorded. With a profile other than
# slow nothing is computed and the host's time is real, but for the search: it compares results. With
# slow the first three live in modelled time, and the costs of two are compared; bytes are in all, but for
# --size wide, which the marks are not for.
# --modelled leaves the run out that does not, for what a rule tells by its share of the host's time,
# and compares the costs of this file's marks alone.
# --gpu has one run, as the program is, on the profile a100 in modelled time, where nothing is computed:
# it is about this file's marks.
# Steps take a hundredth of the time there, and what tfshim loads meanwhile does not: they are more,
# EXPECT_STEPS or 900, and at most 240 of these where they are computed.
set -u

here=$(dirname "$0")
profile=slow
if [ "$1" = --profile ]; then
	profile=$2
	shift 2
fi
modelled=
if [ "$1" = --modelled ]; then
	modelled=$2
	shift 2
fi
gpu=
if [ "$1" = --gpu ]; then
	profile=a100 gpu=$2
	shift 2
fi
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
steps=${EXPECT_STEPS:-900}
IFS=,

# watch NAME SEARCHED REWRITES OPTIONS ARGUMENT...
watch() {
	name=$1 searched=$2 rewrites=$3 options=$4 figures=bytes clock=
	shift 4
	case $profile-$name in
	slow-plain | slow-searched)
		figures=bytes,costs${modelled:+:$modelled}
		clock=:$simulated/../tools/modelled_clock.so
		;;
	a100-gpu)
		figures=bytes,gpu:$gpu
		clock=:$simulated/../tools/modelled_clock.so
		;;
	# Busy cores compute steps more slowly than modelled: a search would find that.
	*-searched | *-repaired) clock=:$simulated/../tools/modelled_clock.so ;;
	esac
	case $* in
	*--size,wide*) # joined by commas, as IFS has it
		figures=none
		;;
	esac
	# Only counts decide here; keeping the pace of slow would take ten times as long.
	compute=1 pace=0
	if [ "$profile" != slow ] && [ "$searched" = 0 ]; then
		compute=0 pace=1
		[ "$name" != gpu ] || pace=0
		set -- "$@" --steps "$steps"
	elif [ "$profile" != slow ]; then
		set -- "$@" --steps "$((steps < 240 ? steps : 240))"
	fi
	LD_LIBRARY_PATH="$simulated" TFSIM_PROFILE="$profile" TFSIM_COMPUTE="$compute" \
		TFSIM_PACE="$pace" TFSHIM_OUTPUT="$folder/$name" \
		TFSHIM_REWRITE="$rewrites" TFSHIM_OPTIONS="report=0$options" \
		LD_PRELOAD="$library:$simulated/../tools/stacks_first.so$clock" \
		timeout 120 "$program" "$@" >"$folder/out" 2>&1 || {
		echo "$name: the program ended with $?"
		tail -n 20 "$folder/out"
		failed=1
		return
	}
	"$tfshim" report --quiet "$folder/$name.tfs" || failed=1
	# shellcheck disable=SC2086 # a list
	python3 "$here/expect.py" "$folder/$name.json" "$searched" "$figures" $sources >"$folder/wrong" || {
		echo "$name:"
		sed 's/^/  /' "$folder/wrong"
		failed=1
	}
}

[ -z "$gpu" ] || {
	watch gpu 0 off '' "$@"
	exit "$failed"
}
watch plain 0 off '' "$@"
# The patience is for a real device's speed.
watch searched 1 report :search_ms=100000 "$@"
watch repaired 1 safe :search_ms=100000 "$@"
[ -n "$modelled" ] || watch whole 0 off :record=all "$@"
exit "$failed"
