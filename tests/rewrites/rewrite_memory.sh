#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of alloc-pool: its counterexamples pass on the hostile device and fail with a naive
# pool, each named check refuses, and nothing is the same to CUDA but not to the program.
#	rewrite_memory.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 rewrite=alloc-pool
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
pool=$programs/rewrite_pool limits=$programs/rewrite_pool_limits
contexts=$programs/rewrite_contexts giving=$programs/rewrite_giving
small="TFSIM_MEMORY=32m"

# Counterexamples 4, 5, 6, 8, 7 and 14 of the contracts, and what a program may do wrong.
counterexample free-waits 10 256 "" "" "$pool" free-waits
counterexample two-streams 10 256 "" "" "$pool" two-streams
counterexample nothing-stale 10 512 "" "" "$pool" nothing-stale
counterexample whole-blocks 10 2048 "" "" "$pool" whole-blocks
counterexample sized-by-free 4 1024 pool_reserve=1m "$small" "$pool" sized-by-free
counterexample halves 10 1024 pool_reserve=1m "$small" "$pool" halves
counterexample misuse 5 4096 "" "" "$pool" misuse

# A program that counts on zeros finds them; filled with NaNs it is found out.
holds zeros 10 "" "" "$pool" zeros
run poisoned pool_poison=1 "" "$pool" zeros && fail "a program that counts on zeros is not found out"

holds error-kept 5 pool_reserve=1m "$small" "$pool" error-kept
holds strict 10 pool_strict=1 "" "$pool" two-streams
for devices in 1 2; do
	holds "threads-$devices" 50 "" "TFSIM_DEVICES=$devices" "$pool" threads
	holds "reset-$devices" 10 "" "TFSIM_DEVICES=$devices" "$pool" reset
done

counterexample driver 70 512 pool_reserve=1m TFSIM_MEMORY=256m "${pool}_driver"

# Blocks go with their context. (Real ones leave more behind than memory.)
if [ "$hardware" = 0 ]; then
	dead=4294967296
	counterexample created 100 $dead pool_reserve=1m "" "$contexts" created
	counterexample released 100 $dead pool_reserve=1m "" "$contexts" released
	counterexample primary-reset 200 $dead pool_reserve=1m "" "$contexts" primary-reset
	for case in created-aside created-capturing not-destroyed in-turn other-reset; do
		holds $case 40 pool_reserve=1m TFSIM_DEVICES=2 "$contexts" $case
	done
fi

# What is held goes back while a stream is captured, and leaves the capture alone.
counterexample room 6 1024 pool_reserve=1m "$small" "$giving" room
counterexample ordered-room 6 8589934592 pool_reserve=1m "$small" "$giving" ordered-room

# A library's search finds the memory that is held. (By the pages of a real machine what is left
# beside it is enough.)
case $profile in
slow) counterexample found 6 1024 pool_reserve=1m TFSIM_MEMORY=96m "$programs/rewrite_finding" found ;;
*) holds found 6 pool_reserve=1m TFSIM_MEMORY=96m "$programs/rewrite_finding" found ;;
esac

# What a library allocates for itself is not looked at.
blas=$programs/libcublas.so.other
holds by-stranger 10 "" "" env LD_PRELOAD="$(with ""):$blas" "$limits" by-stranger
run by-library "" "" env LD_PRELOAD="$(with ""):$blas" "$limits" by-library ||
	fail "by-library: $(tail -n 3 "$out/by-library.out")"
"$programs/../tools/ledger" "$out/by-library.tfs" | grep "^alloc-pool " | grep -v " state " | grep -vE "(applied|bytes) 0$" &&
	fail "a library's own memory is looked at"

# Each check by a case that breaks its precondition, and no other: so often.
refuses runtime-stays 24 "" "" env LD_PRELOAD="$(with ""):$programs/libcudart.so.other" "$limits" plain
refuses plain-device-memory 24 "" "" "$limits" managed
refuses plain-device-memory 24 "" "" "$limits" pooled
refuses plain-device-memory 48 "" "" "$limits" pinned
refuses not-shared 24 "" "" "$limits" shared
refuses no-peers 24 "" TFSIM_DEVICES=2 "$limits" peers
refuses no-sanitizer 24 "" NV_SANITIZER_INJECTION_PATH=/tmp "$limits" plain
refuses no-sanitizer 24 "" CUDA_INJECTION64_PATH=libsanitizer-collection.so "$limits" plain
refuses not-capturing 3 "" "" "$limits" capturing
refuses size 24 pool_limit=1m "" "$limits" plain
refuses size-recurs 24 "" "" "$limits" once
refuses current-device 24 "" TFSIM_DEVICES=2 "$limits" other-device
refuses current-context 22 "" "" "$limits" other-context
refuses no-error-waiting 22 "" "" "$limits" error-waiting
refuses pool-limit 67 pool_limit=6m "" "$limits" many
refuses memory-left 22 "" "$small" "$limits" plain
refuses whole-pages 22 "" TFSIM_PROFILE=a100 "$limits" small
refuses device-waited-for 1 "" "" "$limits" device-fails
[ "$profile" != slow ] || refuses block-kept 394 "" "" "$limits" crowd

# What follows is of blocks that are less than a page of a real machine.
[ "$profile" = slow ] || {
	finish
	exit
}

# The same bits with the pool and without, whichever steps it is on in.
rewrite=off
weights without "" ""
rewrite=alloc-pool
weights with "" ""
applied train-with $((train_steps * 3 / 4))
same_weights without with
for steps in 1 2 5; do
	weights "in-turn-$steps" "measure=200:alternate=$steps" ""
	applied "train-in-turn-$steps" $((train_steps / 5))
	same_weights without "in-turn-$steps"
done
weights hostile "" TFSIM_HOSTILE=3
same_weights without hostile

# On a device that takes as long to map memory as others have measured, large blocks are worth it;
# small ones are not, and are given back.
measured large "400 16384 10" apply ": faster"
# Steps that are of two kinds, in turn: blocks are whole turns, and it is found all the same.
measured turns "500 16384 10 turns" apply "blocks of 10 steps: faster"
measured small "400 512 0 given-back" lost "slower, switched off"
churn=rewrite_churn_static
measured static "400 512 0 given-back" lost "slower, switched off"
churn=rewrite_churn
measured captured "400 512 0 given-back captured" lost "slower, switched off"

finish
