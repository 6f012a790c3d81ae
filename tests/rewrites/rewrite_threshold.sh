#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of pool-threshold: to the program no pool keeps anything, a naive one that does is
# found out, each named check refuses, and it acts only by name and after it was tried out.
#	rewrite_threshold.sh LIBRARY PROGRAMS_DIR   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 rewrite=pool-threshold
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
reserve=$programs/rewrite_reserve limits=$programs/rewrite_reserve_limits
# Time matters where something is measured, and nowhere else.
TFSIM_PACE=0
export TFSIM_PACE
small="TFSIM_MEMORY=256m"

counterexample asked 20 536870912 "" "" "$reserve" asked
counterexample own-threshold 0 134217728 "" "" "$reserve" own-threshold
counterexample sized-by-free 8 67108864 pool_reserve=1m "$small" "$reserve" sized-by-free
counterexample halves 4 67108864 pool_reserve=1m "$small" "$reserve" halves
counterexample driver 10 67108864 pool_reserve=1m "$small" "${reserve}_driver"

# Also while a stream is captured, and the capture is left alone.
giving=$programs/rewrite_giving barred=8589934592
counterexample told 20 $barred pool_reserve=1m "$small" "$giving" told
counterexample switched 40 $barred pool_reserve=1m:record=windows:window=5:measure=200:alternate=1 \
	"$small" "$giving" switched

holds plain 12 "" "" "$limits" plain
holds error-kept 4 pool_reserve=1m "$small" "$reserve" error-kept
holds pools 40 "" "" "$reserve" pools
holds selected 12 "" "" "$reserve" selected
holds threads 20 "" "" "$reserve" threads
holds devices 100 "" TFSIM_DEVICES=2 "$reserve" devices
holds reset 36 "" "" "$reserve" reset

# Each check by a case that breaks its precondition, and no other: so often.
refuses runtime-stays 24 "" "" env LD_PRELOAD="$(with ""):$programs/libcudart.so.other" "$limits" plain
refuses not-capturing 3 "" "" "$limits" capturing
refuses no-error-waiting 24 "" "" "$limits" error-waiting
refuses one-device 24 "" TFSIM_DEVICES=2 "$limits" elsewhere
refuses known-pool 24 "" "" "$limits" unknown-pool
refuses known-pool 24 "" TFSIM_DEVICES=2 "$limits" other-device
refuses not-shared 24 "" "" "$limits" shared-pool
refuses threshold-unset 24 "" "" "$limits" set-high
refuses gives-back 24 "" "" "$limits" without-waits
refuses memory-left 23 "" "$small" "$limits" plain
refuses shadow-evidence 5 "" "" "$limits" few
refuses threshold-kept 44 "" "" "$limits" crowd

# In shadow the pool stays as it is; a value that the program did not set is found.
in_shadow 0 20 "" "$reserve" asked
in_shadow 1 1 naive=268435456 "$limits" plain
drops 268435456 "$limits" plain

# It gains where memory would be mapped anew in each step. Where the program asks in each step what
# is free, it does not, and the pool is as it was.
# The last steps are not in a window, where the pool is as it was.
measured ordered "480 1024 1 ordered" apply ": faster"
# Windows in between, in which it is off, cost its test a pair of blocks each, and no answer.
windows=:window_at=64:window_later=10
measured windows "600 1024 1 ordered" apply ": faster"
windows=
applies=20
measured told "500 1024 1 ordered told given-back" unproven ""

# The same bits, whichever steps it is on in.
same_weights_of() { # NAME
	grep -e '^-*0x' "$out/$1.out" >"$out/$1.weights"
	[ -s "$out/$1.weights" ] && cmp -s "$out/without.weights" "$out/$1.weights"
}
rewrite=off
run without "" "" "$reserve" weights || fail "without: $(tail -n 3 "$out/without.out")"
grep -e '^-*0x' "$out/without.out" >"$out/without.weights"
rewrite=pool-threshold
for way in "" measure=200:alternate=1 measure=200:alternate=2 measure=200:alternate=5; do
	holds weights 50 "record=windows:window=5:$way" "" "$reserve" weights
	same_weights_of weights || fail "other weights with '$way'"
done
# Whatever else is said meanwhile.
holds weights 50 "" "TFSIM_HOSTILE=3 TFSIM_VERBOSE=1" "$reserve" weights
same_weights_of weights || fail "other weights on the hostile device"

# Never by itself.
by_name "$limits" plain

finish
