#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of memoise: the answers are the runtime's own, also when devices differ, fail or are
# reset, and a naive memory fails; each named check refuses.
#	rewrite_queries.sh LIBRARY PROGRAMS_DIR   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 rewrite=memoise
# shellcheck source=tests/rewrites/rewrite_common.sh
. "$(dirname "$0")/rewrite_common.sh"
queries=$programs/rewrite_queries

counterexample devices 138 8192 "" TFSIM_DEVICES=2 "$queries" devices
counterexample errors 138 16384 "" "" "$queries" errors
holds threads 1000 "" TFSIM_DEVICES=2 "$queries" threads

# Asked anew after a reset: three questions of 24 rounds, of which the first of each is CUDA's.
holds reset 138 "" "" "$queries" reset
got=$(ledger reset "memoise applied")
[ "$got" = 138 ] || fail "$got answers were remembered across a reset, not 138"

# A second runtime in the process: neither may be kept.
refuses runtime-stays 72 "" "" env LD_PRELOAD="$(with ""):$programs/libcudart.so.other" "$queries" devices
refuses known-layout 72 "" TFSIM_EARLIER=1 "$queries" devices
refuses known-number 24 "" "" "$queries" numbers
refuses known-number 2 "" "" "$queries" errors
refuses constant 96 "" "" "$queries" clocks
refuses no-error-waiting 24 "" "" "$queries" error-waiting

# In shadow the runtime answers, and a difference is found.
rewrite=memoise=shadow
holds shadow 69 "" "" "$queries" devices
[ "$(ledger shadow "memoise shadow-differs")" = 0 ] || fail "the same answers differ in shadow"
holds differs 1 naive=32768 "" "$queries" devices
[ "$(ledger differs "memoise shadow-differs")" = 1 ] || fail "another answer is the same in shadow"

finish
