#!/bin/sh
# SPDX-License-Identifier: MIT
# Another process on the device gets the memory that it needs and that would be there without us,
# though it may have to try again: whatever is held, and whatever the program goes on with.
#	rewrite_neighbour.sh LIBRARY PROGRAMS_DIR   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 rewrite=alloc-pool
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
seeds=$few
export TFSIM_SHARED="$out/shared" TFSIM_MEMORY=768m TFSIM_PACE=0
neighbour=$programs/rewrite_neighbour
waited=0

# by_default CASE SEED OPTIONS: the case under all that is on by default; $status is how it ended
by_default() {
	rm -rf "$out/decisions"
	forget "$1"
	done=$((done + 1))
	env TFSHIM_OUTPUT="$out/$1" TFSHIM_DECISIONS="$out/decisions" TFSIM_HOSTILE="$2" \
		TFSHIM_OPTIONS="record=none:report=0:quiet=1:measure=0:pool_reserve=96m:search_ms=100000:$3" \
		LD_PRELOAD="$(with "$3")" timeout 300 "$neighbour" "$1" >"$out/$1.out" 2>&1
	status=$?
}

# gets CASE [NAIVE]: with each seed; with what breaks the promise it does not
gets() {
	for seed in $(seq 1 "$seeds"); do
		env TFSIM_HOSTILE="$seed" timeout 300 "$neighbour" "$1" >"$out/plain.out" 2>&1 ||
			fail "$1 with seed $seed without: $(tail -n 3 "$out/plain.out")"
		grep -q "after a wait" "$out/plain.out" && fail "$1 waits without as well"
		by_default "$1" "$seed" ""
		[ "$status" = 0 ] || fail "$1 with seed $seed: $(tail -n 3 "$out/$1.out")"
		grep -q "after a wait" "$out/$1.out" && waited=$((waited + 1))
	done
	[ $# = 2 ] || return 0
	by_default "$1" 1 "naive=$2"
	noticed "$1 with what gives nothing back" "$status" "$out/$1.out" ||
		fail "$1 passes with what gives nothing back as well"
}

gets allocating 1024
alone=70368744177664
for case in waiting copying events; do
	gets $case $alone
done
[ "$waited" = $((seeds * 4)) ] || fail "the neighbour waited in $waited cases only: nothing was held"
waited=0
gets searched $alone
gets computing # whose convolutions look by themselves
# With some seeds a search holds too little to stand in its way.
[ "$waited" -ge "$seeds" ] || fail "the neighbour waited in $waited searches only: nothing was held"
finish
