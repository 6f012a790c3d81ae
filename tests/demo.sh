#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, trains a small network under tfshim, and says where its
# report lies.
#
#   sh tests/demo.sh [--gpu | --sim] [FOLDER]
#
#   --gpu   insist on a GPU; --sim insist on the simulated one; unset: a GPU if there is one
#   FOLDER  with MNIST's four files; unset: a set of drawn digits, made here
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
device=
images=
for arg in "$@"; do
	case $arg in
	--gpu | --sim) device=${arg#--} ;;
	-*)
		sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
		[ "$arg" = --help ] || exit 2
		exit 0
		;;
	*) images=$arg ;;
	esac
done

sh tests/setup.sh demo
[ -f build/build.ninja ] || meson setup build
ninja -C build

[ -n "$images" ] || images=build/tests/trainers/digits-set

# The folder of NVIDIA's own libraries, when all that the trainer needs are in one.
libraries() {
	cuda=$(sh tests/setup.sh cuda)
	for dir in "$cuda/lib64" "$cuda/lib"; do
		if [ -e "$dir/libcudart.so.13" ] && [ -e "$dir/libcudnn.so.9" ] &&
			[ -e "$dir/libcublas.so.13" ]; then
			echo "$dir"
			return
		fi
	done
}

# A GPU with a driver for CUDA 13; says what is in the way.
have_gpu() {
	if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
		echo "demo: no GPU here"
	elif ! nvidia-smi | grep -qE 'CUDA Version: *(1[3-9]|[2-9][0-9])\.'; then
		echo "demo: the GPU's driver is older than CUDA 13"
	elif [ -z "$(libraries)" ]; then
		echo "demo: a GPU, but no CUDA runtime, cuDNN and cuBLAS in one folder"
	else
		return 0
	fi
	return 1
}

recordings=build/demo
rm -rf "$recordings"
mkdir -p "$recordings"
trainer=build/tests/trainers/lenet_naive

# train LIBRARIES: under tfshim, with the environment as it is
train() {
	env LD_LIBRARY_PATH="$1" LD_PRELOAD="$root/build/shim/libtfshim.so" \
		TFSHIM_OUTPUT="$recordings/%e-%p" "$trainer" --data "$images"
}

# The simulated GPU computes too slowly for times that mean something, and where it does not
# compute there is no accuracy: the same program runs once for each.
simulate() {
	echo "demo: no tfshim yet: $trainer on the simulated GPU, which computes true results"
	LD_LIBRARY_PATH="$1" "$trainer" --data "$images" || return
	echo
	echo "demo: once more under tfshim, on a modelled A100: nothing is computed, so what the"
	echo "      program prints goes to $recordings/lenet_naive.out; launches, copies and waits"
	echo "      cost what they do on an A100, so the report shows what matters there"
	TFSIM_PROFILE=a100 TFSIM_COMPUTE=0 train "$1" >"$recordings/lenet_naive.out"
}

status=0
if [ "$device" != sim ] && have_gpu; then
	echo "demo: on $(nvidia-smi -L | head -n 1 | sed 's/ (UUID.*//')"
	echo "demo: LD_PRELOAD=libtfshim.so $trainer --data $images"
	train "$(libraries)" || status=$?
elif [ "$device" = gpu ]; then
	exit 1
else
	simulate "$root/build/tests/sim" || status=$?
fi
[ "$status" = 0 ] || { echo "demo: the trainer ended with status $status" >&2; exit 1; }

echo
for kind in txt html json tfs; do
	for file in "$recordings"/lenet_naive-*."$kind"; do
		if [ -s "$file" ]; then
			echo "demo: report $root/$file"
		else
			echo "demo: no .$kind report was written" >&2
			status=1
		fi
	done
done
exit "$status"
