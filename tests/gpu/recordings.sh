#!/bin/sh
# SPDX-License-Identifier: MIT
# What the rules say of each recording that was kept of real hardware, against what they said when
# it was looked at last, and what the step takes as written and could take:
#	recordings.sh TFSHIM FOLDER            compares; 77: there are none
#	recordings.sh TFSHIM FOLDER --write    writes what to compare with
# A recording is NAME.tfs, and NAME.rules beside it has the status of "tfshim check" and, for each
# rule, its verdict and the number of findings. Change it together with the rule that changes it,
# after a look at the report. Every recording must be readable, and at most 1 MB, also without one.
set -u
tfshim=$1 folder=$2 write=${3:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0 most=1048576

wrong() {
	echo "$*"
	failed=1
}

# rules_of RECORDING: leaves in now what the rules say of it; false when it cannot be read
rules_of() {
	cp "$1" "$work/one.tfs"
	timeout 120 "$tfshim" report --quiet --format json --output "$work/one.json" "$work/one.tfs" >"$work/said" 2>&1 ||
		return 1
	timeout 120 "$tfshim" check "$work/one.tfs" >"$work/said" 2>&1
	checked=$?
	case $checked in 0 | 1 | 3) ;; *) return 1 ;; esac # 3: not judged
	echo "check $checked" >"$work/now"
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
for state in ("as_written", "possible"):
    ns = report[state]["ns_per_step"]
    print(state, "not measurable" if ns is None else "%.0f us" % (ns / 1e3))
for rule in report["rules"]:
	told = rule["reason"].split()[0] if rule["state"] == "violated" else ""
	print(" ".join((rule["id"], rule["state"].replace("_", " "), told)).rstrip())' \
		"$work/one.json" >>"$work/now"
	[ "$(wc -l <"$work/now")" -gt 1 ] || { echo "the report lists no rules" >"$work/said"; return 1; }
}

for recording in "$folder"/*.tfs; do
	[ -f "$recording" ] || continue
	count=$((count + 1))
	name=$(basename "$recording" .tfs)
	size=$(wc -c <"$recording")
	[ "$size" -le "$most" ] || wrong "$name: $size bytes, more than $most"
	if ! rules_of "$recording"; then
		wrong "$name cannot be judged: $(tail -n 1 "$work/said")"
	elif [ "$write" = --write ]; then
		cp "$work/now" "$folder/$name.rules"
	elif [ ! -f "$folder/$name.rules" ]; then
		echo "$name: nothing to compare with; with --write this would be kept:"
		cat "$work/now"
	elif ! diff "$folder/$name.rules" "$work/now"; then
		wrong "$name: the rules say something else (>) than $name.rules (<)"
	fi
done
for rules in "$folder"/*.rules; do
	[ ! -f "$rules" ] || [ -f "${rules%.rules}.tfs" ] || wrong "$(basename "$rules") is of no recording"
done
if [ "$count" = 0 ] && [ "$failed" = 0 ]; then
	echo "skipped: no recordings of real hardware are kept in $folder"
	exit 77
fi
echo "$count recordings"
exit "$failed"
