#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of deferred-free: the wait is left out only where order takes its place and the host
# cannot tell, and only after it was tried out; a naive deferral fails, each named check refuses.
#	rewrite_deferred.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 rewrite=deferred-free
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
deferred=$programs/rewrite_deferred

# Counterexamples 5, 6 and, without the rewrite taking part, 3 and 4.
counterexample late-stream 10 131072 "" "" "$deferred" late-stream
counterexample nothing-stale 20 512 "" "" "$deferred" nothing-stale
counterexample pinned-result 0 65536 "" "" "$deferred" pinned-result
counterexample host-function 0 65536 "" "" "$deferred" host-function
counterexample events 0 65536 "" "" "$deferred" events

holds in-order 20 "" "" "$deferred" in-order
holds threads 50 "" "" "$deferred" threads
holds info 20 "" "" "$deferred" info
holds reset 40 "" "" "$deferred" reset
if [ "$hardware" = 0 ]; then
	contexts=$programs/rewrite_contexts
	counterexample created 60 4294967296 pool_reserve=1m "" "$contexts" created
	for case in created-aside not-destroyed in-turn primary-reset released other-reset; do
		holds $case 20 pool_reserve=1m TFSIM_DEVICES=2 "$contexts" $case
	done
	holds stream-beside-pinned 0 "" "" "$deferred" stream-beside-pinned
fi
rewrite=deferred-free,alloc-pool
holds both 20 "" "" "$deferred" in-order
rewrite=deferred-free

refuses no-host-visible-memory 38 "" "" "$deferred" pinned-result
refuses no-pageable-access 38 "" TFSIM_COHERENT=1 "$deferred" in-order
refuses no-host-signals 38 "" "" "$deferred" host-function
refuses no-host-signals 38 "" "" "$deferred" events
refuses no-host-signals 1 "" "" "$deferred" device-fails
refuses no-host-signals 38 "" "" "$deferred" context-event
refuses no-free-streams 38 "" "" "$deferred" green-context
refuses no-free-streams 38 "" "" "$deferred" destroyed-stream
refuses no-free-streams 7 "" "" "$deferred" late-stream
refuses one-device 38 "" TFSIM_DEVICES=2 "$deferred" elsewhere
refuses shadow-evidence 6 "" "" "$deferred" few
refuses shadow-evidence 8 "" "" "$deferred" in-order
refuses no-free-streams 85 pool_reserve=1m TFSIM_MEMORY=256m "$programs/rewrite_pool_driver"
refuses no-host-signals 38 "" "" "$deferred" external-semaphore
refuses no-host-signals 38 "" "" "$deferred" driver-semaphore
# What it shares with alloc-pool.
limits=$programs/rewrite_pool_limits
refuses runtime-stays 24 "" "" env LD_PRELOAD="$(with ""):$programs/libcudart.so.other" "$limits" plain
refuses plain-device-memory 24 "" "" "$limits" managed
refuses not-shared 24 "" "" "$limits" shared
refuses not-shared 40 "" "" "$deferred" memory-operations
refuses not-shared 40 "" "" "$deferred" registered-for-nccl
refuses no-peers 24 "" TFSIM_DEVICES=2 "$limits" peers
refuses no-sanitizer 24 "" NV_SANITIZER_INJECTION_PATH=/tmp "$limits" plain
refuses not-capturing 3 "" "" "$limits" capturing
refuses current-device 24 "" TFSIM_DEVICES=2 "$limits" other-device
refuses size 24 pool_limit=1m "" "$limits" plain
refuses size-recurs 2 "" "" "$deferred" few
refuses current-context 22 "" "" "$limits" other-context
refuses no-error-waiting 22 "" "" "$limits" error-waiting
refuses pool-limit 64 pool_limit=6m "" "$limits" many
refuses memory-left 22 "" TFSIM_MEMORY=32m "$limits" plain
# Where pages are of 2 MiB, these blocks and the trainer's are no whole pages.
small_pages() { [ "$profile" = slow ]; }
if small_pages; then
	refuses block-kept 388 "" "" "$limits" crowd
else
	refuses whole-pages 2700 "" "" "$limits" crowd
fi

# In shadow the program's free stays, and is tried out beside; what is not clean is found.
in_shadow 0 30 "" "$deferred" in-order
in_shadow 1 1 naive=262144 "$deferred" in-order
drops 262144 "$deferred" in-order

# What it gains is found, no more than the host does meanwhile; where it waits straight after, none.
churn=rewrite_paced scale=40
measured wins "500 1024 4 free" apply ": faster"
predicted wins 1500 5000
applies=20
measured late "500 1024 4 free-late" unproven ""
predicted late 0 1000

# Never by itself.
by_name "$deferred" in-order

# The same bits with the wait and without.
same_bits ""
small_pages && applied train-with $((train_steps / 2))

finish
