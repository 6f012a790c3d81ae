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

# What a run finds: verdicts NAME REWRITE PRELOADED ARGUMENT...
verdicts_of() {
	name=$1 rewrite=$2 preloaded=$3
	shift 3
	LD_LIBRARY_PATH="$simulated" TFSIM_PACE=0 TFSHIM_OUTPUT="$folder/$name" TFSHIM_REWRITE="$rewrite" \
		TFSHIM_OPTIONS=report=0:search_ms=100000 LD_PRELOAD="$library:$preloaded" \
		timeout 120 "$program" "$@" >"$folder/out" 2>&1 || {
		echo "run $name ended with $?" >&2
		tail -n 20 "$folder/out" >&2
		return 1
	}
	"$tfshim" report --quiet "$folder/$name.tfs" || return 1
	python3 -c "$verdicts" "$folder/$name.json"
	rm -f "$folder/$name".[thj]* "$folder"/*.decisions
}

# Once in real time, and once with a search of algorithms: the simulated device computes on the host's
# processors, so that what a search measures is compared in modelled time, which no load moves.
stacks=$simulated/../tools/stacks_first.so
run=1
while [ "$run" -le "$runs" ]; do
	{
		verdicts_of "$run-plain" off "$stacks" "$@" &&
			verdicts_of "$run-searched" report "$stacks:$simulated/../tools/modelled_clock.so" "$@"
	} >"$folder/verdicts" || exit 1
	sort "$folder/verdicts" >"$folder/$run.verdicts"
	if ! diff "$folder/1.verdicts" "$folder/$run.verdicts" >"$folder/diff"; then
		echo "run 1 and run $run differ:"
		sed 's/^/  /' "$folder/diff"
		failed=1
	fi
	run=$((run + 1))
done
grep -q TFS601 "$folder/1.verdicts" || failed=1
exit "$failed"
