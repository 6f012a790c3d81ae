#!/bin/sh
# SPDX-License-Identifier: MIT
# The same program gives the same findings, levels and states of rules in every run:
# stable.sh LIBRARY TFSHIM SIMULATED-LIBRARIES RUNS TRAINER ARGUMENT...
set -u

library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
runs=$4
program=$(realpath "$5")
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

# Level, rule and line of each finding, and the state of each rule.
verdicts='
import json, sys
report = json.load(open(sys.argv[1]))
for finding in report["findings"]:
    site = finding["callsite"]
    print(finding["level"], finding["id"], site["file"], site["line"], site["call"], site["key"])
for rule in report["rules"]:
    print(rule["id"], rule["state"])
'

run=1
while [ "$run" -le "$runs" ]; do
	LD_LIBRARY_PATH="$simulated" TFSIM_PACE=0 TFSHIM_OUTPUT="$folder/$run" \
		TFSHIM_REWRITE=report TFSHIM_OPTIONS=report=0:search_ms=100000 LD_PRELOAD="$library:$simulated/../tools/stacks_first.so" \
		timeout 120 "$program" "$@" >"$folder/out" 2>&1 || {
		echo "run $run ended with $?"
		tail -n 20 "$folder/out"
		exit 1
	}
	"$tfshim" report --quiet "$folder/$run.tfs" || exit 1
	python3 -c "$verdicts" "$folder/$run.json" | sort >"$folder/$run.verdicts"
	if ! diff "$folder/1.verdicts" "$folder/$run.verdicts" >"$folder/diff"; then
		echo "run 1 and run $run differ:"
		sed 's/^/  /' "$folder/diff"
		failed=1
	fi
	rm -f "$folder/$run".[thj]* "$folder"/*.decisions
	run=$((run + 1))
done
[ -s "$folder/1.verdicts" ] || failed=1
exit "$failed"
