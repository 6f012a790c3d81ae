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
costly=naive=8796093022208
from_source=9895604649984 early=10995116277760 all_equal=4398046511104 slow=17592186044416

counterexample doubled 10 $from_source $costly "" "$skip" doubled
counterexample target-changes 10 $from_source $costly "" "$skip" target-changes
counterexample blocking-stream 10 $from_source $costly "" "$skip" blocking-stream
counterexample host-function 10 $early $costly "" "$skip" host-function

holds same 30 $costly "" "$skip" same
holds source-changes 10 $costly "" "$skip" source-changes
holds sizes 60 $costly "" "$skip" sizes
holds racing 20 $costly "" "$skip" racing
holds threads 8 $costly "" "$skip" threads
holds reset 60 $costly "" "$skip" reset
holds forks 60 $costly "" "$skip" forks

refuses to-device 10 $costly "" "$skip" same
refuses recurs 8 $costly "" "$skip" once
refuses shadow-evidence 8 $costly "" "$skip" same
refuses unchanged-lately 37 $costly "" "$skip" batches
refuses equal 1 $costly "" "$skip" doubled
refuses size 40 skip_min=4m "" "$skip" same
refuses cheaper-than-copy 31 naive=$slow "" "$skip" same

finish
