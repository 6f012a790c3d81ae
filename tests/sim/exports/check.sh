#!/bin/sh
# SPDX-License-Identifier: MIT
# The simulated library shows what the real one shows: check.sh LIST LIBRARY SONAME [REAL]
# With the real library at hand, the list itself is checked too.
set -u

list=$1
library=$2
soname=$3
real=${4-}
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL
node=$(awk '$1 == "node" && $2 != "-" { print $2 }' "$list")

# exported FILE: name and version of each
exported() {
	nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@@/, " ", $3); print $3 }' | sort
}

# differ TITLE: passes when both files are the same
differ() {
	cmp -s "$work/want" "$work/got" && return
	echo "$1:"
	diff "$work/want" "$work/got" | head -20
	failed=1
}

awk -v node="$node" '/^#/ || $1 == "node" || $1 == "status" { next }
	{ print node == "" ? $1 : $1 " " node }' "$list" | sort >"$work/want"
exported "$library" >"$work/got"
differ "$library does not export what the list says"
if [ -n "$real" ] && [ -f "$real" ]; then
	exported "$real" >"$work/got"
	differ "the list is not that of $real"
fi
found=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$found" != "$soname" ]; then
	echo "$library: SONAME is $found, not $soname"
	failed=1
fi
[ "$failed" = 0 ] || exit 1
echo "$(wc -l <"$work/want") names of $soname"
