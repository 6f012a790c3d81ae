#!/bin/sh
# SPDX-License-Identifier: MIT
# What products and vectors are recorded to work on: from the first element's start to the last's end.
#	cublas_operands.sh LIBRARY PROGRAM OPERANDS
set -u
library=$1 program=$2 operands=$3
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
unset LD_PRELOAD TFSHIM_DISABLE
failed=0

TFSIM_PACE=0 TFSHIM_OUTPUT="$out/run" TFSHIM_OPTIONS=report=0:quiet=1:record=all TFSHIM_REWRITE=off \
	LD_PRELOAD="$library" timeout 60 "$program" || {
	echo "FAILED: $program ended with $?"
	exit 1
}

worked() { # FUNCTION LINES
	got=$("$operands" "$out/run.tfs" "$1")
	[ "$got" = "$2" ] || {
		echo "FAILED: $1 was recorded as: $got"
		failed=1
	}
}

worked cublasSgemm_v2 '0 read 68 device read 108 device write 212 device m 5 n 7 k 3
0 read 76 device read 100 device write 140 device m 5 n 7 k 3'
worked cublasDgemm_v2 '0 read 136 device read 184 device write 472 device m 5 n 7 k 3'
worked cublasSgemmStridedBatched '0 read 1268 device read 2484 device write 3740 device m 5 n 7 k 3 times 4'
worked cublasGemmEx '0 read 256 device read 256 device write 312 device m 8 n 8 k 16'
worked cublasSgemv_v2 '0 read 312 device read 40 device write 24 device m 6 n 1 k 10
0 read 312 device read 24 device write 40 device m 10 n 1 k 6'
worked cublasSaxpy_v2 '0 read 76 device write 112 device m 10'
worked cublasDscal_v2 '0 write 296 device m 10'
worked cublasScopy_v2 '0 read 44 device write 44 device m 11'
worked cublasSnrm2_v2 '0 read 92 device m 12'
worked cublasSdot_v2 '0 read 40 device read 76 device write 4 device m 10'
worked cublasLtMatmul '0 read 68 device read 108 device write 236 device m 5 n 7 k 3
0 read 76 device read 92 device write 172 device m 5 n 7 k 3
0 read 460 device read 884 device write 1340 device m 5 n 7 k 3 times 2'
exit "$failed"
