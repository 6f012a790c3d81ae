#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of sync-narrowing: what the host or another stream can notice is waited for, and only
# after it was tried out; a naive wait fails, each named check refuses.
#	rewrite_narrowing.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 rewrite=sync-narrowing
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
narrowing=$programs/rewrite_narrowing limits=$programs/rewrite_narrowing_limits
# The mutants, by what they leave out; see shim/rewrites/sync_narrowing/sync_narrowing.c.
blind=1099511627776 arguments=2199023255552 no_fence=4398046511104 stale=8796093022208
no_tries=17592186044416 answers=35184372088832

# Of 40 waits 31 are narrowed; 23 where the unwinder comes late, and one call site begins as another.
# Counterexamples 2 and 3; the order between streams; what tells how far a stream is.
counterexample pinned-source 20 $blind "" "" "$narrowing" pinned-source
counterexample hidden-flag 20 $arguments "" "" "$narrowing" hidden-flag
counterexample order 20 $no_fence "" "" "$narrowing" order
counterexample asks 20 $answers "" "" "$narrowing" asks
counterexample late-stream 1 $answers "" "" "$narrowing" late-stream
counterexample waited-for 40 $((stale + no_tries)) "" "" "$narrowing" waited-for

counterexample driver 60 $blind "" "" "$programs/rewrite_narrowing_driver"
counterexample named 60 $blind "" "" "$programs/rewrite_narrowing_driver" named
holds named-null 60 "" "" "$programs/rewrite_narrowing_driver" named-null
holds rounds 20 "" "" "$narrowing" rounds
holds threads 100 "" TFSIM_PACE=0 "$narrowing" threads
holds reset 40 "" "" "$narrowing" reset
holds fork 40 "" "" "$narrowing" fork
holds device-fails 20 "" "" "$narrowing" device-fails

refuses not-capturing 39 "" "" "$limits" capture
refuses no-error-waiting 39 "" "" "$limits" error-waits
refuses nothing-submitted-since 40 "" "" "$narrowing" order
refuses all-calls-seen 39 "" "" "$programs/rewrite_narrowing_limits_unseen" unseen
names unseen "cudaGraphicsMapResources, called by the program"
refuses all-calls-seen 39 "" "" "$limits" looked-up
names looked-up "cudaGraphicsMapResources, looked up by the program"
refuses all-calls-seen 39 "" "" "$limits" asked-for
names asked-for "cuGraphicsMapResources, looked up by the program"
refuses all-calls-seen 39 driver=0 "" "$narrowing" rounds
names driver-off "the option driver=0"
holds harmless 20 "" "" "$programs/rewrite_narrowing_limits_harmless" harmless
holds harmless-looked-up 20 "" "" "$limits" harmless-looked-up
refuses one-device 40 "" TFSIM_DEVICES=2 "$limits" elsewhere
refuses one-device 120 "" "" "$programs/rewrite_narrowing_driver" two-contexts
refuses one-device 119 "" "" "$programs/rewrite_narrowing_driver" named-other
refuses no-free-streams 39 "" "" "$limits" destroyed-stream
refuses no-free-streams 4 "" "" "$narrowing" late-stream
refuses no-other-users 40 "" "" "$limits" shared
refuses no-free-streams 79 "" "" "$programs/rewrite_narrowing_driver" green-context
refuses streams-in-reach 39 "" "" "$programs/rewrite_narrowing_driver" context-events
refuses no-pageable-access 39 "" TFSIM_COHERENT=1 "$narrowing" rounds
refuses streams-in-reach 39 "" "" "$limits" per-thread
refuses work-to-wait-for 39 "" "" "$limits" nothing-visible
refuses work-to-leave-out 39 "" "" "$limits" nothing-quiet
refuses shadow-evidence 5 "" "" "$limits" few
# Even when it were wrong about what is left to do: the device is asked each time.
refuses carried-out 20 naive=$stale "" "$limits" late-work

# In shadow the program's wait stays, and is tried out beside; what is not clean is found.
in_shadow 0 39 "" "$narrowing" rounds
drops $stale "$narrowing" waited-for

# Beside the rewrite that leaves out another wait.
rewrite=sync-narrowing,deferred-free,alloc-pool
holds beside 20 "" "" "$narrowing" rounds
rewrite=sync-narrowing

# What it gains is found, and where the host waits for the rest straight after, none. What few steps
# cannot tell is off.
churn=rewrite_paced scale=400
measured wins "500 1024 4 wait" apply ": faster"
# What is left out is worth what the device was at, not what the host was.
measured apart "500 16 12 wait" apply ": faster"
predicted apart 100 400
applies=8
measured short "60 1024 4 wait" off "too short to measure the rewrite"
applies=20
measured late "500 1024 0 wait-late" unproven ""
predicted late 0 1000

# Never by itself.
by_name "$narrowing" rounds

# The same bits with the waits and without.
same_bits ""

finish
