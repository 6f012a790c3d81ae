#!/bin/sh
# SPDX-License-Identifier: MIT
# What a report advises where it cannot vouch for itself, TFS902 to TFS907 and TFS910, does away with
# that finding, brings no other, and changes no result:
# advice_quality.sh LIBRARY MUTANT TFSHIM SIMULATED-LIBRARIES PROGRAMS ID
#
# Each case is a program in its surroundings and the same once more as advised, which may be another
# build of it or another setting; both watched, on a device that is as late as it may be.
set -u

here=$(dirname "$0")
library=$(realpath "$1")
mutant=$(realpath "$2")
tfshim=$(realpath "$3")
simulated=$(realpath "$4")
programs=$(realpath "$5")
id=$6
# A real device does not look shared when a variable says so.
if [ "$id" = 907 ] && [ -n "${TFSHIM_HARDWARE:-}" ]; then
	echo "skipped: only the simulated device is shared when asked to be"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD CUDA_HOME CUDA_PATH
export LD_LIBRARY_PATH="$simulated" TFSIM_PROFILE=slow
failed=0 compared=0

fail() {
	echo "$*"
	failed=1
}

# watch NAME SEED [VARIABLE=VALUE...] PROGRAM...: its last line
watch() {
	name=$1
	seed=$2
	shift 2
	rm -f "$folder/$name".*
	env TFSHIM_OUTPUT="$folder/$name" TFSHIM_REWRITE=off TFSIM_HOSTILE="$seed" \
		TFSHIM_OPTIONS=report=0 LD_PRELOAD="$library" "$@" >"$folder/out" 2>&1 ||
		echo "$name with seed $seed ended with $?: $(tail -n 3 "$folder/out")"
	grep -v '^tfs' "$folder/out" | tail -n 1
	"$tfshim" report --quiet "$folder/$name.tfs" || echo "$name with seed $seed: no report"
}

# cure RESULTS BEFORE -- AFTER: each with its variables; RESULTS is same or more
cure() {
	results=$1 before=
	shift
	while [ "$1" != -- ]; do
		before="$before $1"
		shift
	done
	shift
	for seed in 1 2 3; do
		# shellcheck disable=SC2086 # words
		first=$(watch before $seed $before)
		again=$(watch after $seed "$@")
		case $first in
		*ended\ with* | *no\ report*) fail "$first" ;;
		esac
		[ "$results" = more ] || [ "$first" = "$again" ] ||
			fail "$*, seed $seed: '$again', not '$first'"
		python3 "$here/advice.py" gone "TFS$id" "$folder/before.json" "$folder/after.json" ||
			failed=1
		compared=$((compared + 1))
	done
}

stacks=$programs/../tools/stacks_first.so
loops=LD_PRELOAD=$library:$stacks
case $id in
902)
	# The program may write no file above 1 MB: less of it is recorded.
	cure same "$loops" "$programs/rule_902_bad" -- "$loops" TFSHIM_OPTIONS=report=0:window=30:window_later=0 \
		"$programs/rule_902_bad"
	cure same "$loops" TFSHIM_OPTIONS=report=0:limit=1m "$programs/rule_902_clean" -- \
		"$loops" "$programs/rule_902_clean"
	;;
903)
	cure same "$loops" "$programs/rule_903_bad" -- "$loops" "$programs/rule_903_clean"
	# The same libraries but for CUPTI, then with its folder named too.
	mkdir "$folder/without" "$folder/cupti"
	for file in "$simulated"/*.so*; do
		[ -f "$file" ] || continue
		case ${file##*/} in
		libcupti*) ln -s "$file" "$folder/cupti/" ;;
		*) ln -s "$file" "$folder/without/" ;;
		esac
	done
	bare=LD_LIBRARY_PATH=$folder/without
	cure same "$loops" "$bare" "$programs/rule_903_clean" -- \
		"$loops" "$bare:$folder/cupti" "$programs/rule_903_clean"
	;;
904) cure same "$loops" "$programs/rule_904_bad" -- "$loops" "$programs/rule_904_bad-advice" ;;
905)
	cure more "$loops" "$programs/rule_905_bad" -- "$loops" "$programs/rule_905_clean"
	cure same "$loops" "$programs/rule_905_unrolled" -- "$loops" "$programs/rule_905_unrolled-advice"
	;;
906)
	# A copy of which not all arrives: nothing is put in its place, but it is told.
	naive=TFSHIM_OPTIONS=report=0:window=5:staging_cores=0:staging_min=65537:naive=64
	cure same LD_PRELOAD="$mutant:$stacks" "$naive" TFSHIM_REWRITE=off,pinned-staging=shadow \
		"$programs/../rewrites/rewrite_steps" 60 300 -- LD_PRELOAD="$mutant:$stacks" "$naive" TFSHIM_REWRITE=off \
		"$programs/../rewrites/rewrite_steps" 60 300
	;;
907)
	cure same "$loops" TFSIM_MPS=1 "$programs/rule_907_bad" -- "$loops" "$programs/rule_907_bad"
	cure same "$loops" TFSIM_SLICE=1 "$programs/rule_907_bad" -- "$loops" "$programs/rule_907_bad"
	;;
910)
	cure same "$loops" "$programs/rule_910_bad" -- "$loops" "$programs/rule_910_clean"
	cure same "$loops" "$programs/rule_910_bad" -- "$loops" "$programs/rule_910_bad-advice"
	;;
esac
echo "$compared results compared"
[ "$compared" -gt 0 ] || failed=1
exit "$failed"
