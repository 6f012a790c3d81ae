#!/bin/sh
# SPDX-License-Identifier: MIT
# Device activity in the recordings of real runs: activity.sh SHIM CHECK TRAINER DIGITS FORKER
# SIMULATED-LIBRARIES PROGRAMS
# On the simulated device. What the trainer prints must be the same whether CUPTI is there or not.
set -u

shim=$1
check=$2
trainer=$3
digits=$4
forker=$5
simulated=$6
programs=$7
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TFSIM_PACE=0 TFSIM_SCALE=1

# run NAME OPTIONS PROGRAM ARGUMENT...: its output into NAME.out, its recording into NAME.tfs
run() {
	name=$1
	options=$2
	shift 2
	TFSHIM_OUTPUT=$work/$name TFSHIM_OPTIONS=report=0:$options TFSHIM_REWRITE=off \
		LD_PRELOAD=$shim:$programs/../tools/stacks_first.so "$@" >"$work/$name.all" 2>"$work/$name.err" || {
		echo "$name: the program ended with $?"
		cat "$work/$name.err"
		failed=1
	}
	grep -v '^time' "$work/$name.all" >"$work/$name.out"
}

# expect NAME OPS FACT
expect() {
	"$check" "$work/$1.tfs" "$2" ${3+"$3"} || {
		echo "  in the recording of: $1"
		failed=1
	}
}

train() {
	name=$1
	options=$2
	shift 2
	run "$name" "$options" "$@" "$trainer" --deterministic --batch 16 --steps 90 --data "$digits"
}

"$trainer" --deterministic --batch 16 --steps 90 --data "$digits" 2>"$work/bare.err" |
	grep -v '^time' >"$work/bare.out"

train windows window=20
expect windows 400 'active in windows'
train everything record=all
expect everything 400 'active in windows'
train refused window=20 env TFSIM_CUPTI=refuse
expect refused 0 'not available: in use by Nsight Systems'
train driverless window=20 env TFSIM_CUPTI=missing-driver
expect driverless 0 'not available: no usable driver'
train outdated window=20 env TFSIM_CUPTI=old-driver
expect outdated 0 'not available: the driver is too old'
# The toolkit's own CUPTI may be found then; it has no driver to work with.
mkdir "$work/libs"
for library in "$simulated"/lib*.so.*[0-9]; do
	case $library in
	*libcupti*) ;;
	*) ln -s "$library" "$work/libs" ;;
	esac
done
train missing window=20 env LD_LIBRARY_PATH="$work/libs"
expect missing 0 'not available: '
train unwanted cupti=0
expect unwanted 0

for name in windows everything refused driverless outdated missing unwanted; do
	if ! cmp -s "$work/bare.out" "$work/$name.out"; then
		echo "$name: the program's output differs:"
		diff "$work/bare.out" "$work/$name.out" | head -5
		failed=1
	fi
done

# Each library's kernels are charged to its call, and to the call's line.
run libraries window=20 "$programs/activity_libraries"
"$programs/activity_dump" "$work/libraries.tfs" >"$work/libraries.dump" || failed=1
charged() { # LINE
	grep -qE "^$1\$" "$work/libraries.dump" || {
		echo "libraries: no line '$1' in:"
		cat "$work/libraries.dump"
		failed=1
	}
}
charged 'kernel tfsim_lt_matmul by cublasLtMatmul: 40, sites 2, nodes 0'
charged 'kernel tfsim_sgemm[a-z_0-9]* by cublasSgemm_v2: 20, sites 1, nodes 0'
charged 'kernel tfsim_softmax_fprop by cudnnSoftmaxForward: 20, sites 1, nodes 0'
charged 'kernel tfsim_curand_uniform by curandGenerateUniform: 20, sites 1, nodes 0'
charged 'kernel tfsim_nccl_all_reduce by ncclAllReduce: 20, sites 1, nodes 0'
charged 'memset by cudaGraphLaunch: 40, sites 1, nodes 40'
charged 'sync 3 by cudaStreamSynchronize: 20, sites 1, nodes 0'
charged 'memory 1 by cudaMalloc: 20, sites 1, nodes 0'
charged 'memory 2 by cudaFree: 20, sites 1, nodes 0'
charged 'overhead 7 by nobody: [0-9]*, sites 0, nodes 0'
if grep -v '^overhead' "$work/libraries.dump" | grep ' by nobody'; then
	failed=1
fi

run forked record=all "$forker"
expect forked 100 'active in windows'
if grep -q 'forked child' "$work/forked.err"; then
	echo "CUPTI was used in a forked child"
	failed=1
fi
exit "$failed"
