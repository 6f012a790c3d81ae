#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing to build and run tfshim on Debian 12; what is there is left alone.
#
#   sh tests/setup.sh demo    what tests/demo.sh needs
#   sh tests/setup.sh tests   the same, and what tests/run.sh needs
#   sh tests/setup.sh cuda    install nothing; print the folder with the CUDA toolkit, if any
#
# CUDA comes from $CUDA_HOME, /usr/local/cuda, or else ./cuda, which is filled from NVIDIA's
# Python wheels. TFSHIM_CUDA=fetch goes straight to ./cuda.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
fetched=$root/cuda

# package | who needs it | why
packages='
gcc|demo|compiles everything
libc6-dev|demo|C headers
meson|demo|describes the build
ninja-build|demo|runs the build
pkg-config|demo|finds libraries
binutils|demo|links, and lists what a library exports
libunwind8|demo|call stacks, opened while the program runs
libunwind-dev|demo|its headers
libjemalloc-dev|demo|the heap of the library itself
libjemalloc2|tests|another heap for programs that ask for it
libdw-dev|demo|file and line of a callsite
libelf-dev|demo|symbols of a module
libiberty-dev|demo|readable C++ names
libjansson-dev|demo|recordings of other profilers
zlib1g-dev|demo|the same, packed
libsqlite3-dev|demo|recordings of Nsight Systems
libopenblas-dev|demo|arithmetic of the simulated GPU
liblz4-dev|demo|unpacks device code for the simulated GPU
libzstd-dev|demo|the same, as newer compilers pack it
g++|tests|host half of CUDA programs, C++ exception tests
chromium|tests|checks on HTML reports
fonts-dejavu-core|tests|text in those checks
clang|tests|fuzzing
libclang-rt-14-dev|tests|fuzzer and sanitizers of clang
clang-format|tests|style check
python3|tests|checks on files and logs
jq|tests|the same
patch|tests|applies what reports give as patches
'

# wheel | version | who needs it: demo, tests, or gpu (only with a driver on this machine)
wheels='
nvidia-cuda-runtime|13.0.96|demo
nvidia-cuda-crt|13.0.88|demo
nvidia-cuda-cccl|13.0.85|demo
nvidia-cuda-cupti|13.0.85|demo
nvidia-nvtx|13.0.85|demo
nvidia-cuda-profiler-api|13.0.85|demo
nvidia-curand|10.4.0.35|demo
nvidia-nccl-cu13|2.28.9|demo
nvidia-cudnn-cu13|9.19.0.56|demo
nvidia-cublas|13.1.0.3|demo
nvidia-cuda-nvcc|13.0.88|tests
nvidia-nvvm|13.0.88|tests
nvidia-cuda-nvrtc|13.0.88|gpu
'

die() {
	echo "setup: $*" >&2
	exit 1
}

# A usable toolkit: CUDA 13 with every header that the build includes.
toolkit() {
	for header in cuda_runtime_api.h cuda_fp16.h cublasLt.h curand.h cudnn.h nccl.h cupti.h; do
		[ -f "$1/include/$header" ] || return 1
	done
	grep -q '^#define CUDART_VERSION  *13' "$1/include/cuda_runtime_api.h"
}

find_toolkit() {
	if [ "${TFSHIM_CUDA-}" != fetch ]; then
		for dir in "${CUDA_HOME-}" /usr/local/cuda; do
			if [ -n "$dir" ] && toolkit "$dir"; then
				echo "$dir"
				return
			fi
		done
	fi
	if toolkit "$fetched"; then
		echo "$fetched"
	fi
}

have_driver() {
	{ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q 'libcuda\.so\.1'
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install "package|who|why" lines
install() {
	missing=
	reasons=
	while IFS='|' read -r package _ why; do
		if [ -n "$package" ] && ! installed "$package"; then
			missing="$missing $package"
			reasons="$reasons$(printf '\n  %-20s %s' "$package" "$why")"
		fi
	done <<-LIST
	$1
	LIST
	[ -n "$missing" ] || return 0
	echo "setup: installing with apt-get:$reasons"
	as_root=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "neither root nor sudo; as root: apt-get install$missing"
		as_root=sudo
	fi
	log=$(mktemp)
	# shellcheck disable=SC2086 # lists of words
	if ! { $as_root apt-get -q update && $as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install $missing; } >"$log" 2>&1; then
		tail -n 30 "$log" >&2
		rm -f "$log"
		die "apt-get failed"
	fi
	rm -f "$log"
}

system_packages() {
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		echo "setup: no apt-get here; the build needs what these Debian packages hold:"
		printf '%s\n' "$packages" | cut -d '|' -f 1 | tr '\n' ' '
		echo
		return
	fi
	if [ "$level" = demo ]; then
		install "$(printf '%s\n' "$packages" | grep '|demo|')"
	else
		install "$packages"
	fi
}

# The pip to fetch wheels with: the one at hand, else one in a virtual environment of our own.
find_pip() {
	if python3 -m pip --version >/dev/null 2>&1; then
		python=python3
		return
	fi
	python=$fetched/.venv/bin/python3
	[ ! -x "$python" ] || return 0
	if command -v dpkg-query >/dev/null; then
		install 'python3-venv||fetches the CUDA wheels'
	fi
	python3 -m venv "$fetched/.venv"
}

# unpack WHEEL DIR LIBS: headers and tools, and with LIBS=yes the shared libraries
unpack() {
	"$python" - "$@" <<-'PY'
	import os, re, sys, zipfile
	wheel, dest, libs = sys.argv[1:]
	small = re.compile(r"lib/libcudart\.so|lib/libcudadevrt\.a|lib/libcudart_static\.a")
	with zipfile.ZipFile(wheel) as archive:
	    for item in archive.infolist():
	        part = re.match(r"nvidia/[^/]+/((include|bin|nvvm|lib)/.+)", item.filename)
	        if not part or item.is_dir() or part[1].startswith("lib/cmake/"):
	            continue
	        if part[2] == "lib" and libs != "yes" and not small.match(part[1]):
	            continue
	        path = os.path.join(dest, part[1])
	        os.makedirs(os.path.dirname(path), exist_ok=True)
	        with archive.open(item) as source, open(path, "wb") as target:
	            while block := source.read(1 << 20):
	                target.write(block)
	        os.chmod(path, 0o755 if item.external_attr >> 16 & 0o111 else 0o644)
	        name = re.match(r"(.+\.so)\.\d+$", path)
	        if name and not os.path.lexists(name[1]):
	            os.symlink(os.path.basename(path), name[1])
	PY
}

fetch_toolkit() {
	libs=no
	! have_driver || libs=yes
	told=
	rm -rf "$fetched"/.tmp.*
	mkdir -p "$fetched/.fetched" "$fetched/lib"
	[ -e "$fetched/lib64" ] || ln -s lib "$fetched/lib64"
	while IFS='|' read -r name version who; do
		[ -n "$name" ] || continue
		[ "$who" != tests ] || [ "$level" = tests ] || continue
		[ "$who" != gpu ] || [ "$libs" = yes ] || continue
		stamp=$fetched/.fetched/$name-$version
		if [ -e "$stamp.libs" ] || { [ "$libs" = no ] && [ -e "$stamp" ]; }; then
			continue
		fi
		if [ -z "$told" ]; then
			told=yes
			if toolkit "$fetched"; then
				echo "setup: adding to the CUDA toolkit in ./cuda"
			elif [ "$libs" = yes ]; then
				echo "setup: no CUDA 13 toolkit found; fetching headers and libraries into ./cuda"
			else
				echo "setup: no CUDA 13 toolkit found; fetching its headers into ./cuda"
				echo "  (1.2 GB in all: the wheels hold libraries too, which are dropped without a GPU)"
			fi
			find_pip
		fi
		echo "  $name $version"
		tmp=$(mktemp -d "$fetched/.tmp.XXXXXX")
		"$python" -m pip download -q --no-deps --no-cache-dir --only-binary=:all: -d "$tmp" \
			"$name==$version" </dev/null || die "cannot fetch $name $version"
		unpack "$tmp"/*.whl "$fetched" "$libs"
		rm -rf "$tmp"
		touch "$stamp"
		[ "$libs" = no ] || touch "$stamp.libs"
	done <<-LIST
	$wheels
	LIST
}

level=${1-tests}
case $level in
demo | tests) ;;
cuda)
	find_toolkit
	exit 0
	;;
*)
	sed -n '3,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac

system_packages
toolkit_dir=$(find_toolkit)
if [ -z "$toolkit_dir" ] || [ "$toolkit_dir" = "$fetched" ]; then
	fetch_toolkit
	toolkit_dir=$(find_toolkit)
	[ -n "$toolkit_dir" ] || die "the wheels lack a header that the build needs"
fi
echo "setup: CUDA from $toolkit_dir"
