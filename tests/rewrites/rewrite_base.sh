# SPDX-License-Identifier: MIT
# What all tests of rewrites share; sourced. Set before: programs, library.
# shellcheck shell=sh disable=SC2034,SC2154
# A few in the default suite and in CI, and many in the long run; of cases that take long, fewer.
# train_steps: of the trainer whose weights are compared.
seeds=2 few=1 train_steps=100
[ "${TFSHIM_LONG:-0}" = 1 ] && seeds=100 few=20 train_steps=200
# A real device has no moods: each case once, and no naive rewrite, which may well get away with it.
hardware=${TFSHIM_HARDWARE:-0}
profile=${TFSIM_PROFILE:-slow}
[ "$hardware" = 1 ] && seeds=1 few=1
# In memory where there is enough: where a disk stalls for a second, rewrites are off.
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 1000000 ] 2>/dev/null && export TMPDIR=/dev/shm
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 done=0

fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# with OPTIONS: the library that has them, and what keeps main back until it has loaded all
with() {
	case $1 in
	*naive=* | *alternate=*) echo "${library%/*}/libtfshim_mutant.so:$programs/../tools/stacks_first.so" ;;
	*) echo "$library:$programs/../tools/stacks_first.so" ;;
	esac
}

# noticed WHAT STATUS SAID: the program that ended so, and said what is in that file, found by its
# own checks that something is wrong. That it ends in another way is a failure here.
noticed() {
	[ "$2" != 0 ] || return 1
	if [ "$2" = 1 ] && grep -qE '^[^ ]+\.[ch]:[0-9]+: (not so: .|.* is .*, not ).*' "$3"; then
		return 0
	fi
	fail "$1 ended with $2, not by a check of its own: $(tail -n 3 "$3")"
	return 1
}

# enough BITTEN: whether so many failures with a naive rewrite will do
enough() {
	[ "$1" -gt 0 ] && [ "$seeds" -lt 100 ]
}

# forget NAME: its recording, and what earlier runs told this one
forget() {
	rm -f "$out/$1.tfs" "$out"/*.verdicts "$out"/*.acting-* "$out"/*.rewrites-off
}

# ledger NAME "REWRITE CHECK": the count, 0 when there is none
ledger() {
	"$programs/../tools/ledger" "$out/$1.tfs" |
		awk -v key="$2" '$1 " " $2 == key { sum += $3 } END { print sum + 0 }'
}
