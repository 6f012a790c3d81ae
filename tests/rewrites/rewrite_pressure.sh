#!/bin/sh
# SPDX-License-Identifier: MIT
# What a program is told is the same while freed memory is held for it: of calls on memory that it
# has freed, of libraries when memory is short, of what is left. Each case says all that it is told,
# and says the same without tfshim.
#	rewrite_pressure.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 rewrite=alloc-pool
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
seeds=$few
pressure=$programs/rewrite_pressure
compared=0 memory=256m

# compare CASE SEED NAME: what the latest run said, with what it says without
compare() {
	compared=$((compared + 1))
	env TFSIM_MEMORY=$memory TFSIM_PACE=0 TFSIM_HOSTILE="$2" timeout 300 "$pressure" "$1" \
		>"$out/plain.out" 2>"$out/plain.err" || fail "$1 with seed $2 without: $(tail -n 3 "$out/plain.err")"
	for way in plain "$3"; do
		grep -v "^tfsim: " "$out/$way.out" >"$out/$way.said"
	done
	[ "$(wc -l <"$out/plain.said")" -gt 10 ] || fail "$1 says too little"
	cmp -s "$out/plain.said" "$out/$3.said" ||
		fail "$1 with seed $2 differs: $(diff "$out/plain.said" "$out/$3.said" | head -n 8)"
}

# same CASE LEAST: with the rewrite, applied so often, and by default. Set before: patience, from
# which comes how long is waited for an idle device.
patience=search_ms=100000
same() {
	for seed in $(seq 1 "$seeds"); do
		run "$1" "pool_reserve=1m:$patience" "TFSIM_MEMORY=256m TFSIM_PACE=0 TFSIM_HOSTILE=$seed" "$pressure" "$1" ||
			fail "$1 with seed $seed: $(tail -n 3 "$out/$1.out")"
		compare "$1" "$seed" "$1"
		applied "$1" "$2"
		[ "$seed" = 1 ] || [ "$seeds" -gt 2 ] || continue
		env TFSHIM_OUTPUT="$out/default" TFSHIM_OPTIONS="report=0:quiet=1:pool_reserve=1m:$patience" \
			TFSHIM_DECISIONS="$out/decisions" TFSIM_MEMORY=256m TFSIM_PACE=0 TFSIM_HOSTILE="$seed" LD_PRELOAD="$(with "")" \
			timeout 300 "$pressure" "$1" >"$out/default.out" 2>&1 ||
			fail "$1 with seed $seed by default: $(tail -n 3 "$out/default.out")"
		compare "$1" "$seed" default
		rm -rf "$out/default".*tfs* "$out/decisions"
	done
}

same copies 40
same fills 20
same questions 20
same driver 40
same libraries 10
# By default only: what a search of ours takes of the device is not missed. Pages that small blocks
# share are not told apart in a pool.
memory=2g

# by_default CASE SEED OPTIONS
by_default() {
	rm -rf "$out/decisions" "$out/$1".*
	env TFSHIM_OUTPUT="$out/$1" TFSHIM_DECISIONS="$out/decisions" \
		TFSHIM_OPTIONS="report=0:quiet=1:search_ms=100000:$3" TFSIM_MEMORY=$memory TFSIM_PACE=0 \
		TFSIM_HOSTILE="$2" LD_PRELOAD="$(with "$3")" timeout 300 "$pressure" "$1" \
		>"$out/$1.out" 2>"$out/$1.err"
}

# unmissed CASE: by default, with each seed
unmissed() {
	for seed in $(seq 1 "$seeds"); do
		by_default "$1" "$seed" "" || fail "$1 with seed $seed: $(tail -n 3 "$out/$1.err")"
		compare "$1" "$seed" "$1"
		[ "$("$programs/../tools/ledger" "$out/$1.tfs" | awk '/^fact cudnn-search /{ print $NF; exit }')" -gt 0 ] ||
			fail "$1 with seed $seed: nothing was searched"
	done
}

[ "$profile" = a100 ] || {
	unmissed searches
	unmissed searches-gated
	unmissed compared-gated
	unmissed recaptured
	[ "$(ledger recaptured "cudnn-search applied")" -gt 300 ] || fail "recaptured: nothing was captured with a workspace"
	# Lent to graphs for ever, it is missed.
	by_default recaptured "$seeds" naive=140737488355328 ||
		fail "recaptured, with what is lent for ever: $(tail -n 3 "$out/recaptured.err")"
	cmp -s "$out/recaptured.out" "$out/plain.said" && fail "recaptured: what is lent for ever is not missed"
}
memory=256m
same first-use 5
same gated 20
# The threads of the simulated device may be late by a tenth of a second on a loaded machine.
patience=search_ms=2000000
same answered 20
patience=search_ms=100000
# Whoever has no patience does not hear that the device is idle.
run answered pool_reserve=1m:naive=281474976710656 "TFSIM_MEMORY=256m TFSIM_PACE=0 TFSIM_HOSTILE=$seeds" \
	"$pressure" answered || fail "answered, without patience: $(tail -n 3 "$out/answered.out")"
grep -v "^tfsim: " "$out/answered.out" | cmp -s - "$out/plain.said" &&
	fail "answered: no patience is not missed"
same pairs 100
same leaks 20
same sizes-itself 10

# Many more pairs: what is kept of them is bounded.
[ "$seeds" -le 2 ] || run pairs-long pool_reserve=1m "TFSIM_MEMORY=256m TFSIM_PACE=0" "$pressure" pairs 710000 ||
	fail "710000 pairs: $(tail -n 3 "$out/pairs-long.out")"

echo "$compared runs compared"
finish
