#!/bin/sh
# SPDX-License-Identifier: MIT
# A rule's three programs, and more traps, on the simulated device at the modelled pace:
# rule.sh [--profile NAME] LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAMS ID [TRAP...]
#
# Costs are compared between runs, so that whatever else the machine does meanwhile counts as cost:
# three more attempts are allowed, and of all so far the quickest runs are compared. With a profile
# other than slow nothing is computed, and only what is found counts.
set -u

here=$(dirname "$0")
profile=slow
if [ "$1" = --profile ]; then
	profile=$2
	shift 2
fi
library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
programs=$4
id=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
# A search is what TFS601 goes by; its patience is for a real device's speed.
rewrites=off
[ "$id" != 601 ] || rewrites=report
attempts='1 2 3 4' counts='' compute=1
if [ "$profile" != slow ]; then
	attempts=1 counts=--counts
	# A search compares results.
	[ "$id" = 601 ] || compute=0
fi

watch() {
	LD_LIBRARY_PATH="$simulated" TFSHIM_OUTPUT="$folder/$attempt/$1" TFSHIM_REWRITE="$rewrites" \
		TFSIM_PROFILE="$profile" TFSIM_COMPUTE="$compute" TFSHIM_OPTIONS=report=0:search_ms=100000 \
		LD_PRELOAD="$library" timeout 60 "$programs/rule_${id}_$1" >"$folder/$attempt/out" 2>&1 || {
		echo "$1 ended with $?"
		tail -n 20 "$folder/$attempt/out"
		return 1
	}
	"$tfshim" report --quiet "$folder/$attempt/$1.tfs"
}

for attempt in $attempts; do
	mkdir "$folder/$attempt"
	watch bad && watch clean && watch trap || exit 1
	for trap; do
		watch "trap_$trap" || exit 1
	done
	# shellcheck disable=SC2086 # a flag or nothing
	python3 "$here/rule.py" $counts "$id" "$here/programs" "$folder" "$@" && exit 0
	echo "  (attempt $attempt)"
done
exit 1
