#!/bin/sh
# SPDX-License-Identifier: MIT
# What the rules say of the recordings that were kept of real hardware, against what they said when
# they were looked at last:
#	recordings.sh TFSHIM FOLDER             compares with FOLDER/golden.txt; 77: there are none
#	recordings.sh TFSHIM FOLDER --golden    prints a golden text
# One line per recording and rule: its verdict and the number of findings. Change golden.txt
# together with the rule that changes it, after a look at the reports.
set -u
tfshim=$1 folder=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

count=0
for recording in "$folder"/*.tfs; do
	[ -f "$recording" ] || continue
	count=$((count + 1))
	name=$(basename "$recording" .tfs)
	cp "$recording" "$work/one.tfs"
	"$tfshim" report --quiet --format text --output "$work/one.txt" "$work/one.tfs" >"$work/said" 2>&1 || {
		echo "$name cannot be read: $(tail -n 1 "$work/said")"
		continue
	}
	awk -v name="$name" '/^RULES/ { on = 1; next } /^[A-Z]/ { on = 0 }
		on && $2 ~ /^TFS[0-9]+$/ {
			line = name " " $2 " " ($4 == "not" ? "not measurable" : $4)
			for (i = 5; i <= NF; i++) if ($(i + 1) ~ /^finding/) line = line " " $i
			print line
		}' "$work/one.txt"
done >"$work/now"

if [ "${3:-}" = --golden ]; then
	cat "$work/now"
	exit 0
fi
if [ ! -s "$work/now" ]; then
	echo "skipped: no recordings of real hardware are kept in $folder"
	exit 77
fi
if ! diff "$folder/golden.txt" "$work/now"; then
	echo "the rules say something else (>) than golden.txt (<)"
	exit 1
fi
echo "$(cut -d' ' -f1 "$work/now" | sort -u | wc -l) recordings, $(wc -l <"$work/now") verdicts as before"
