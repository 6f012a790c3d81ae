#!/bin/sh
# SPDX-License-Identifier: MIT
# A long loop within a small cap: shim_long.sh SHIM PROGRAMS
# Memory constant, file within its cap, totals true to the last call, whatever is recorded besides.
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"
after=$programs/../tools/stacks_first.so

steps=300000
[ -z "${TFSHIM_LONG-}" ] || steps=10000000

for options in record=windows record=all record=none; do
	name=long-${options#record=}
	# Of the pool of 64 buffers for CUPTI, one more is used whenever the helper is late.
	pool_kb=0
	[ "$options" != record=all ] || pool_kb=8192
	watched "$name" "limit=4m:$options" "$programs/shim_long" $steps 0 "$pool_kb"
	[ "$(cat "$work/$name.status")" = 0 ] || { fail "$name"; cat "$work/$name.out"; }
	look "$name"
	says "$name" "queries $((steps * 6)) copies"
	expect "$name" total cudaStreamQuery $((steps * 6))
	expect "$name" total cudaMemcpy $(((steps + 63) / 64))
	[ "$(stat -c %s "$work/$name.tfs")" -le 4194304 ] || fail "$name: larger than its cap"
	case $options in
	record=all)
		[ "$(value "$name" lost_records_dropped)" -gt 1000 ] || fail "no losses were counted"
		;;
	esac
	echo "$name: $(stat -c %s "$work/$name.tfs") bytes, $(value "$name" counted) calls counted," \
		"$(value "$name" lost) losses; $(grep tfshim-test "$work/$name.err")"
done
# More stacks than there are slots: counted or lost, nothing in between.
watched spread limit=64m "$programs/shim_long" 60000 16000
look spread
sum=$(($(value spread total cudaStreamQuery) + $(value spread lost_aggregates_full)))
[ "$(value spread lost_aggregates_full)" -gt 1000 ] || fail "spread: all calls found a slot"
[ "$sum" = 420000 ] || fail "spread: $sum calls counted or lost, not 420000"
echo "spread: $(value spread lost_aggregates_full) calls had no slot," \
	"$(value spread lost_sites_full) no site; $(grep tfshim-test "$work/spread.err")"
exit "$failed"
