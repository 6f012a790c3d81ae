# SPDX-License-Identifier: MIT
# What all tests of rewrites share; sourced. Set before: programs, library.
# shellcheck shell=sh disable=SC2034,SC2154
seeds=10
[ "${TFSHIM_LONG:-0}" = 1 ] && seeds=1000
# A real device has no moods: each case once, and no naive rewrite, which may well get away with it.
hardware=${TFSHIM_HARDWARE:-0}
profile=${TFSIM_PROFILE:-slow}
[ "$hardware" = 1 ] && seeds=1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 done=0

fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# with OPTIONS: the library that has them
with() {
	case $1 in
	*naive=* | *alternate=*) echo "${library%/*}/libtfshim_mutant.so" ;;
	*) echo "$library" ;;
	esac
}

# forget NAME: its recording, and what earlier runs told this one
forget() {
	rm -f "$out/$1.tfs" "$out"/*.verdicts "$out"/*.acting-* "$out"/*.rewrites-off
}

# ledger NAME "REWRITE CHECK": the count, 0 when there is none
ledger() {
	"$programs/ledger" "$out/$1.tfs" |
		awk -v key="$2" '$1 " " $2 == key { sum += $3 } END { print sum + 0 }'
}
