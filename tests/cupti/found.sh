#!/bin/sh
# SPDX-License-Identifier: MIT
# Where libcupti is found, and which of several, and when it is left alone:
# found.sh SHIM PROGRAMS SIMULATED-LIBRARIES TFSHIM
set -u

programs=$2 simulated=$3 tfshim=$4
shim=$1:$programs/../tools/stacks_first.so
export TFSIM_PACE=0 TFSIM_SCALE=1 TFSHIM_REWRITE=off TFSHIM_LOG=info
unset TFSHIM_OPTIONS TFSHIM_OUTPUT LD_PRELOAD LD_LIBRARY_PATH TFSIM_CUPTI CUDA_HOME CUDA_PATH
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# has FOLDER FILE [NAME]: it lies there
has() {
	mkdir -p "$work/$1"
	ln -s "$2" "$work/$1/${3-$(basename "$2")}"
}

# finds NAME WANT [VARIABLE=VALUE...] PROGRAM...: the libcupti that was taken is $work/WANT
finds() {
	name=$1 want=$2
	shift 2
	rm -f "$work/out.tfs"
	env TFSHIM_OUTPUT="$work/out" TFSHIM_OPTIONS=report=0:window=20 "$@" >"$work/out" 2>"$work/err" || {
		echo "$name: the program ended with $?: $(head -n 3 "$work/out")"
		failed=1
	}
	got=$(sed -n 's/.*library.c:[0-9]*: \(.*\), version [0-9]*: cuptiSubscribe returned 0$/\1/p' "$work/err")
	[ "$(realpath -sm "${got:-none}")" = "$work/$want" ] || {
		echo "$name: taken is '$got', not '$work/$want'; it said:"
		grep -v '^step' "$work/err" | head -n 5
		failed=1
	}
}

cupti=$simulated/libcupti.so.13
newer=$programs/libcupti_newer.so
for folder in toolkit/lib64 wheels/nvidia/cuda_runtime/lib wheels13/nvidia/cu13/lib two/lib; do
	has "$folder" "$simulated/libtfsim.so.0"
	has "$folder" "$simulated/libcudart.so.13"
	has "$folder" "$simulated/libcuda.so.1"
done
has toolkit/extras/CUPTI/lib64 "$cupti"
has wheels/nvidia/cuda_cupti/lib "$cupti"
has wheels13/nvidia/cu13/lib "$cupti"
has two/lib "$newer" libcupti.so.13
has two/lib "$cupti" libcupti.so.12

with() {
	finds "$1" "$2" LD_LIBRARY_PATH="$work/$3" LD_PRELOAD="$shim" timeout 60 \
		"$programs/cupti_hidden" plain
}
with toolkit toolkit/extras/CUPTI/lib64/libcupti.so.13 toolkit/lib64
with wheels wheels/nvidia/cuda_cupti/lib/libcupti.so.13 wheels/nvidia/cuda_runtime/lib
with wheels13 wheels13/nvidia/cu13/lib/libcupti.so.13 wheels13/nvidia/cu13/lib
# The newest that fits.
with two two/lib/libcupti.so.12 two/lib

# A runtime that is linked in: what else there is of CUDA tells, or else a variable.
has driver "$simulated/libtfsim.so.0"
has driver "$simulated/libcuda.so.1"
has wheels/nvidia/cublas/lib "$simulated/libcublas.so.13"
finds companion wheels/nvidia/cuda_cupti/lib/libcupti.so.13 LD_LIBRARY_PATH="$work/driver" \
	LD_PRELOAD="$shim:$work/wheels/nvidia/cublas/lib/libcublas.so.13" timeout 60 \
	"$programs/../driver/driver_client"
# The loader finds none: these are no libraries.
for name in 13 12 11.8; do
	: >"$work/driver/libcupti.so.$name"
done
for variable in CUDA_HOME CUDA_PATH; do
	finds $variable toolkit/extras/CUPTI/lib64/libcupti.so.13 LD_LIBRARY_PATH="$work/driver" \
		"$variable=$work/toolkit" LD_PRELOAD="$shim" timeout 60 "$programs/../driver/driver_client"
done
# Without a driver it is left alone: this one ends the program then.
has driverless "$simulated/libtfsim.so.0"
has driverless "$simulated/libcudart.so.13"
has driverless "$programs/libcupti_driverless.so" libcupti.so.13
rm -f "$work/out.tfs"
export LD_LIBRARY_PATH="$work/driverless"
TFSHIM_OUTPUT="$work/out" TFSHIM_OPTIONS=report=0:window=20 LD_PRELOAD="$shim" timeout 60 \
	"$programs/cupti_hidden" plain >"$work/out" 2>"$work/err"
got=$?
[ "$got" = 0 ] || {
	echo "without a driver the program ended with $got, not 0"
	failed=1
}
"$tfshim" doctor --color never >"$work/out" 2>"$work/err"
got=$?
if [ "$got" -gt 1 ] || ! tr -s ' \n' ' ' <"$work/out" | grep -q 'cupti not checked: without a driver'; then
	echo "without a driver the doctor ended with $got: $(grep cupti "$work/out")"
	failed=1
fi
# With one, it is as good as any: that the above counts.
has driverless "$simulated/libcuda.so.1"
finds driver driverless/libcupti.so.13 LD_LIBRARY_PATH="$work/driverless" LD_PRELOAD="$shim" \
	timeout 60 "$programs/cupti_hidden" plain
exit "$failed"
