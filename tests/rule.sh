#!/bin/sh
# SPDX-License-Identifier: MIT
# A rule's three programs, and more traps, on the simulated device at the modelled pace:
# rule.sh LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAMS ID [TRAP...]
#
# Costs are compared between runs, so that whatever else the machine does meanwhile counts as cost:
# three more attempts are allowed, and of all so far the quickest runs are compared.
set -u

here=$(dirname "$0")
library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
programs=$4
id=$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
# A search is what TFS601 goes by.
rewrites=off
[ "$id" != 601 ] || rewrites=report

watch() {
	LD_LIBRARY_PATH="$simulated" TFSHIM_OUTPUT="$folder/$attempt/$1" TFSHIM_REWRITE="$rewrites" \
		TFSHIM_OPTIONS=report=0 LD_PRELOAD="$library" \
		timeout 60 "$programs/rule_${id}_$1" >"$folder/$attempt/out" 2>&1 || {
		echo "$1 ended with $?"
		tail -n 20 "$folder/$attempt/out"
		return 1
	}
	"$tfshim" report --quiet "$folder/$attempt/$1.tfs"
}

for attempt in 1 2 3 4; do
	mkdir "$folder/$attempt"
	watch bad && watch clean && watch trap || exit 1
	for trap; do
		watch "trap_$trap" || exit 1
	done
	python3 "$here/rule.py" "$id" "$here/programs" "$folder" "$@" && exit 0
	echo "  (attempt $attempt)"
done
exit 1
