#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of memset-elision: only zeros that nothing needs are left out, and only after it was
# tried out; a naive elision fails, each named check refuses.
#	rewrite_memset.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 rewrite=memset-elision
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
program=$programs/rewrite_memset between=$programs/rewrite_memset_between
limits=$programs/rewrite_memset_limits kinds=$programs/rewrite_memset_kinds

# Counterexamples 11 and 12.
counterexample microbatch 8 16777216 "" "" "$program" microbatch
counterexample padded 0 33554432 "" "" "$program" padded
# A library by cuBLAS' name that reads, with beta = 0, what it should only write.
counterexample reads-output 0 1073741824 "" TFSIM_READS_OUTPUT=1 "$program" reads-output
[ "$hardware" = 1 ] || [ "$(ledger reads-output "memset-elision shadow-differs")" = 1 ] ||
	fail "a library that reads what it should only write is not found"
# A call between of which it is not known what it writes.
counterexample opaque 0 8388608 "" "" "$between" opaque

holds add 16 "" "" "$program" add
holds over 16 "" "" "$program" over
holds apart 14 "" "" "$between" apart
holds own-stream 16 "" "" "$limits" own-stream
holds reset 16 "" "" "$limits" reset
holds forked 16 "" "" "$between" forked
holds refused 16 "" "" "$program" refused
holds ending 16 "" "" "$between" ending
holds threads 0 "" "" "$limits" threads
holds streams 0 "" "" "$limits" streams
for seed in $(seq 1 "$seeds"); do
	holds watched 100 "" "TFSIM_PACE=0 TFSIM_HOSTILE=$seed" "$limits" watched
done

# Whoever carries out the copy that the zeros come before.
rewrite=memset-elision,pinned-staging
holds staged 14 staging_min=1024 "" "$between" staged
[ "$(ledger staged "pinned-staging applied")" -ge 1 ] || fail "the copy over zeros is not staged"
rewrite=memset-elision

refuses all-calls-seen 24 "" "PLUGIN=$programs/libmemset_plugin.so" "$limits" unseen
names unseen "cudaGraphicsMapResources, called by libmemset_plugin.so"
refuses all-calls-seen 25 driver=0 "" "$program" add
names driver-off "the option driver=0"
# A library may look functions up, but none of CUDA's; and those that have no hook and do no harm.
finder="PLUGIN=$programs/libmemset_finder.so NAME"
holds finds-others 16 "" "$finder=malloc" "$limits" finder
holds finds-harmless 16 "" "$finder=cudaGetErrorName" "$limits" finder
refuses all-calls-seen 24 "" "$finder=cudaMemcpy" "$limits" finder
names finds-hooked "cudaMemcpy, looked up by libmemset_finder.so"
refuses all-calls-seen 24 "" "$finder=cudaGraphicsMapResources" "$limits" finder
names finds-unhooked "cudaGraphicsMapResources, looked up by libmemset_finder.so"
refuses not-capturing 24 "" "" "$between" capture
refuses plain-device-memory 24 "" "" "$limits" managed
refuses no-host-access 25 "" TFSIM_COHERENT=1 "$program" add
refuses one-device 24 "" TFSIM_DEVICES=2 "$limits" elsewhere
refuses ordered-stream 24 "" "" "$limits" free-stream
refuses no-error-waiting 24 "" "" "$limits" failed
refuses room-to-follow 73 "" "" "$limits" many
refuses no-kernel-between 24 "" "" "$between" kernel
refuses no-copy-between 25 "" "" "$between" written
refuses not-read 25 "" "" "$between" copied
refuses no-event-between 24 "" "" "$between" event
refuses no-event-between 24 "" "" "$between" context-event
refuses no-wait-between 25 "" "" "$between" wait
refuses no-other-call-between 25 "" "" "$between" opaque
refuses same-thread 25 "" "" "$between" other-thread
refuses same-stream 24 "" "" "$between" other-stream
refuses whole-range 49 "" "" "$program" partial
refuses whole-range 25 "" "" "$program" padded-product
refuses beta-zero-or-one 25 "" "" "$program" half
refuses same-bits-each-time 24 "" "" "$program" any-order
refuses no-minus-zero 25 "" "" "$program" negative
refuses no-minus-zero 19 "" "" "$program" signs
refuses scratch-memory 24 "" TFSIM_MEMORY=256m "$limits" crowded
refuses shadow-evidence 8 "" "" "$program" add

# What was found out of one kind of call says nothing of another: each half of the rounds is tried.
for kind in activation ceiling activation-back layout pooling-mode convolution-stride convolution-math \
	softmax-algorithm softmax-mode product-math product-algorithm product-alpha; do
	refuses shadow-evidence 16 "" "" "$kinds" "$kind"
done
refuses no-minus-zero 11 "" "" "$kinds" pooling-window
refuses same-bits-each-time 24 "" "" "$kinds" atomics

# The difference that the contract names: a place that has never given -0 before keeps it then.
run late-signs "" "" "$program" late-signs || fail "late-signs: $(tail -n 3 "$out/late-signs.out")"
grep -q "^minus zeros: 4$" "$out/late-signs.out" || fail "not so: $(tail -n 3 "$out/late-signs.out")"
run signs "" "" "$program" signs || fail "signs: $(tail -n 3 "$out/signs.out")"
grep -q "^minus zeros: 0$" "$out/signs.out" || fail "-0 where zeros were added: $(tail -n 3 "$out/signs.out")"

# In shadow the program's own calls stay, and are tried out beside; what differs is found.
in_shadow 0 24 "" "$program" add
in_shadow 1 1 naive=67108864 "$program" add
drops 67108864 "$program" add

# What it gains is found, and where that is hidden behind the host, none. What few steps cannot tell
# is off.
churn=rewrite_paced scale=400
measured wins "500 64 0 fill" apply ": faster"
applies=8
measured short "60 64 0 fill" off "too short to measure the rewrite"
applies=50
scale=4
measured hidden "500 64 2 fill-hidden" unproven ""

# Never by itself.
by_name "$program" add

# The same bits with the zeroing and without.
same_bits record=none
applied train-with $((train_steps * 5))

finish
