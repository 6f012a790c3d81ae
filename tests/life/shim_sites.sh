#!/bin/sh
# SPDX-License-Identifier: MIT
# Call sites are told apart: shim_sites.sh SHIM PROGRAMS
# For each way of building the program: how many sites made how many calls.
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"
after=$programs/../tools/stacks_first.so

# sites NAME FUNCTION: the counts of its sites, as "COUNT SITES" lines
sites() {
	awk -v name="$2" '$1 == "site" && $2 == name { seen[$3]++ }
		END { for (count in seen) print count, seen[count] }' "$work/$1.look" | sort -n
}

# told NAME FUNCTION LINES
told() {
	got=$(sites "$1" "$2" | tr '\n' ',')
	[ "$got" = "$3" ] || fail "$1: $2 has sites (calls number): $got not $3"
}

for program in shim_sites shim_sites-O2 shim_sites-nofp; do
	compare "$program" '' "$programs/$program" 300
	look "$program"
	# One each with 300, 700 and two with 1000 copies; five depths with 100 fills each.
	told "$program" cudaMemcpy '300 1,700 1,1000 2,'
	told "$program" cudaMemset '100 5,'
	echo "$program: $(sites "$program" cudaMemcpy | tr '\n' ' ') calls and sites"
done
# Without an unwinder only the calling line is known: no guess, and it says so.
watched without unwind=0 "$programs/shim_sites" 0
look without
told without cudaMemcpy '3000 1,'
expect without lost_stacks_short 0
exit "$failed"
