#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of copy-skip: a copy is left out only where the device holds those bytes already; a
# naive version fails, each named check refuses, and it stays only where it wins.
#	rewrite_skip.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 rewrite=copy-skip
# shellcheck source=tests/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
skip=$programs/rewrite_skip limits=$programs/rewrite_skip_limits
# Whatever it costs: the hostile device does not keep time. And what else is done wrong.
costly=naive=9007199254740992
from_source=10133099161583616 early=11258999068426240 all_equal=13510798882111488 slow=18014398509481984

counterexample doubled 10 $from_source $costly "" "$skip" doubled
counterexample target-changes 10 $from_source $costly "" "$skip" target-changes
counterexample blocking-stream 10 $from_source $costly "" "$skip" blocking-stream
counterexample host-function 10 $early $costly "" "$skip" host-function

holds same 30 $costly "" "$skip" same
holds source-changes 10 $costly "" "$skip" source-changes
holds sizes 60 $costly "" "$skip" sizes
holds racing 5 $costly "" "$skip" racing
holds threads 1 $costly "" "$skip" threads
holds reset 60 $costly "" "$skip" reset
holds forks 60 $costly "" "$skip" forks

refuses to-device 10 $costly "" "$skip" same
refuses recurs 8 $costly "" "$skip" once
refuses shadow-evidence 8 $costly "" "$skip" same
refuses unchanged-lately 37 $costly "" "$skip" batches
refuses equal 1 $costly "" "$skip" doubled
refuses size 40 skip_min=4m "" "$skip" same
refuses cheaper-than-copy 31 naive=$slow "" "$skip" same
refuses blocking 20 $costly "" "$limits" async
refuses legacy-stream 20 $costly "" "$limits" per-thread
refuses not-capturing 20 $costly "" "$limits" capturing
# A program without the driver, and with one that lacks what is needed.
mkdir -p "$out/apart/programs" "$out/apart/sim" "$out/poor"
if [ "$hardware" = 0 ]; then
	cp "$programs/rewrite_again" "$out/apart/programs/"
	cp "$programs"/../sim/libcudart.so.13 "$programs"/../sim/libcublas.so.13 \
		"$programs"/../sim/libtfsim.so.0 "$out/apart/sim/"
	refuses driver 5 $costly "TFSIM_PACE=0 LD_LIBRARY_PATH=" "$out/apart/programs/rewrite_again"
fi
cp "$programs/libcuda-fake.so" "$out/poor/libcuda.so.1"
run poor $costly:skip_min=1 "" "$programs/driver_client_hostile" versions "$out/poor/libcuda.so.1" ||
	fail "poor: $(tail -n 3 "$out/poor.out")"
[ "$(ledger poor "copy-skip usable-library")" -gt 0 ] || fail "a driver without the functions was not refused"
refuses current-context 20 $costly "" "$limits" other-context
refuses source-pageable 60 $costly "" "$limits" other-sources
refuses target-device-memory 40 $costly "" "$limits" other-targets
refuses not-shared 20 $costly "" "$limits" shared
refuses not-shared 20 $costly TFSIM_DEVICES=2 "$limits" peers
refuses target-aligned 20 $costly "" "$limits" unaligned
refuses no-free-streams 20 $costly "" "$limits" free-stream
refuses no-free-streams 20 $costly "" "$limits" destroyed-stream
refuses one-device 20 $costly TFSIM_DEVICES=2 "$limits" elsewhere
refuses source-mapped 1 $costly "" "$limits" hole
refuses hashed-on-device 2 $costly TFSIM_MEMORY=64m "$skip" same
[ "$(ledger threads "copy-skip one-at-a-time")" -gt 0 ] || fail "no thread found another comparing"

holds any-kind 10 $costly "" "$limits" any-kind
holds driver 10 $costly "" "$limits" driver
[ "$hardware" = 1 ] || holds device-fails 10 $costly "" "$limits" device-fails

# In shadow the copies are made, and compared with: what the hash takes for equal and is not, is
# found, then and while it is tried out.
rewrite=copy-skip=shadow
holds shadow 30 "" "" "$skip" same
for case in shadow racing; do
	holds "$case" 5 "" "" "$skip" "$([ $case = shadow ] && echo target-changes || echo racing)"
	[ "$(ledger "$case" "copy-skip shadow-differs")" = 0 ] || fail "$case: equal bytes differ"
done
run wrong naive=$all_equal "" "$skip" target-changes || fail "wrong: $(tail -n 3 "$out/wrong.out")"
[ "$(ledger wrong "copy-skip shadow-differs")" = 1 ] || fail "a wrong hash is not found in shadow"
rewrite=copy-skip
run tried naive=$all_equal "" "$skip" batches || fail "tried: $(tail -n 3 "$out/tried.out")"
[ "$(ledger tried "copy-skip shadow-differs")" = 1 ] || fail "a wrong hash is not found when tried out"
rewrite=copy-skip=report
run report $costly "" "$skip" same || fail "report: $(tail -n 3 "$out/report.out")"
[ "$(ledger report "copy-skip applied")" = 0 ] || fail "a copy is left out where it is only reported on"

# The same bits with it and without.
rewrite=off
weights without "" ""
rewrite=copy-skip
for seed in 0 3; do
	weights "with-$seed" $costly:skip_min=1 TFSIM_HOSTILE=$seed
	same_weights without "with-$seed"
done
weights in-turn $costly:skip_min=1:measure=200:alternate=2 ""
same_weights without in-turn

# Steps that send the same batch each time win, by the measure of whole steps; where batches differ
# it keeps away.
run steps measure=200:window=5:record=windows "" "$programs/rewrite_steps" 300 4096 same ||
	fail "steps: $(tail -n 3 "$out/steps.out")"
[ "$hardware" = 1 ] || "$programs/ledger" "$out/steps.tfs" | grep "^copy-skip state apply .*it gains" ||
	fail "steps: $("$programs/ledger" "$out/steps.tfs" | grep "^copy-skip state")"
run differing measure=200:window=5:record=windows "" "$programs/rewrite_steps" 100 1024 ||
	fail "differing: $(tail -n 3 "$out/differing.out")"
[ "$(ledger differing "copy-skip applied")" = 0 ] || fail "a copy of other bytes is left out"

# Never by itself.
by_name "$skip" same

finish
