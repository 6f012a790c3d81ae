#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls that only ask for the device or the last error are counted, and those that fail have a place:
# shim_asides.sh SHIM PROGRAMS
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"
# Of a thread's first call alone there is a place, and it has no second chance.
after=$programs/../tools/stacks_first.so

# told NAME FUNCTION LINES: "CALLS FRAMES" of its sites, without those of one call, by calls; a site
# of no frames is no place
told() {
	got=$(awk -v name="$2" '$1 == "site" && $2 == name && $3 > 1 { print $3, ($4 > 0) }' "$work/$1.look" |
		sort -n | tr '\n' ',')
	[ "$got" = "$3" ] || fail "$1: $2 has sites (calls, whether at a place): $got not $3"
}

for options in '' record=all record=none; do
	name=asides-$options
	compare "$name" "$options" "$programs/shim_asides"
	look "$name"
	# All of both threads, and none of the child's.
	expect "$name" 'total cudaGetDevice' 2000
	expect "$name" 'total cudaGetLastError' 2010
	expect "$name" 'total cudaPeekAtLastError' 5
	# Each thread's first call is at a place; the error was returned at one.
	told "$name" cudaGetDevice '1998 0,'
	told "$name" cudaGetLastError '5 1,2003 0,'
	told "$name" cudaPeekAtLastError '5 1,'
	expect "$name" lost 0
done
exit "$failed"
