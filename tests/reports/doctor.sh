#!/bin/sh
# SPDX-License-Identifier: MIT
# `tfshim doctor` on programs made for it, whole and damaged: doctor.sh TFSHIM CC [NVCC]
set -u

tfshim=$(realpath "$1")
compiler=$2
nvcc=${3-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset CUDA_HOME CUDA_PATH
for name in $(env | sed -n 's/^\(TFSHIM_[A-Z]*\|[A-Z]*_INJECTION64_PATH\|NSYS_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD NCCL_PROFILER_PLUGIN
failed=0

wrong() {
	echo "doctor.sh: $1"
	sed 's/^/  out: /' out | head -n 40
	[ ! -s err ] || sed 's/^/  err: /' err | head -n 5
	failed=1
}

# expect STATUS PROGRAM...
expect() {
	want=$1
	shift
	timeout 60 "$tfshim" doctor --color never "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'doctor $*' ended with $got, not $want"
}

# says TEXT: whatever the lines are broken at
says() {
	tr -s ' \n' ' ' <out | grep -qF "$1" || wrong "'$1' is not said"
}

# What limits this machine, programs aside: none of it may be mistaken for a program's.
timeout 60 "$tfshim" doctor >out 2>err
machine=$?
[ "$machine" -le 1 ] || wrong "doctor alone ended with $machine"
# The want of a driver or of a GPU is no "fine".
if ! grep -q '^+ ok    driver' out; then
	[ "$machine" = 1 ] || wrong "no GPU can be used, and it ended with $machine"
	grep -q '^x limit driver' out || wrong "the want of a driver is no limit"
	expect 1 --require gpu
	grep -q 'required but not available: gpu' err || wrong "the want of a GPU is not told"
	expect 1 --require cupti
	expect 1 --require gpu,cupti
	[ "$(grep -c 'not available' err)" = 2 ] || wrong "not both are told"
fi
for parts in '' gpu, ,gpu disk gpus gpu,disk; do
	expect 2 --require "$parts"
done
expect 2 --require

# Which functions the host runs in is known where the kernel lets a process ask.
cat >perf.c <<'C'
#include <errno.h>
#include <stdlib.h>
long syscall(long number, ...);
long syscall(long number, ...) { (void)number; errno = EACCES; return getenv("REFUSE") ? -1 : 1000; }
C
"$compiler" -shared -fPIC -o perf.so perf.c || wrong "the library that answers for the kernel does not build"
LD_PRELOAD=$folder/perf.so expect "$machine"
says ': the report can name the functions that the host runs in while the GPU waits'
REFUSE=1 LD_PRELOAD=$folder/perf.so expect "$machine"
grep -q '^! note  permissions' out || wrong "that the kernel refuses is no note"
says 'perf_event_open fails: Permission denied: it is not known which functions the host runs in while the GPU waits; to change it: '

cat >plain.c <<'C'
int main(void) { return 0; }
C
cat >runtime.c <<'C'
#include <dlfcn.h>
const char *const kept[] = {"cuGetProcAddress_v2", "cudaErrorCudartUnloading",
	"Cuda compilation tools, release 12.4, V12.4.131", "NVTX_INJECTION64_PATH"};
int main(int count, char **words) { return kept[count % 4] == words[0] || dlopen(words[0], 1); }
C
echo 'const char *library_text(void); const char *library_text(void) { return "cuGetProcAddress_v2" "\0" "cudaErrorCudartUnloading"; }' >library.c
echo 'int cudaMalloc(void) { return 0; }' >cudart.c
echo 'int cudaMalloc(void); int newer(void); int newer(void) { return cudaMalloc(); }' >newer.c
echo '#define _GNU_SOURCE
#include <dlfcn.h>
int cudaMalloc(void); int newer(void);
int main(void) { return cudaMalloc() + newer() + !dlmopen(LM_ID_NEWLM, "x", RTLD_NOW); }' >two.c
echo 'int cudaMalloc(void); const char *library_text(void); int main(void) { return cudaMalloc() + !library_text(); }' >linked.c
mkdir libs
{ "$compiler" -g -o plain plain.c && "$compiler" -o bare plain.c -s && "$compiler" -g -o runtime runtime.c -ldl &&
	"$compiler" -shared -fPIC -Wl,-soname,libmine.so -o libs/libmine.so library.c &&
	"$compiler" -shared -fPIC -Wl,-soname,libcudart.so.12 -o libs/libcudart.so.12 cudart.c &&
	"$compiler" -g -o linked linked.c libs/libmine.so libs/libcudart.so.12 \
		"-Wl,-rpath,\$ORIGIN/libs"; } >log 2>&1 || {
	cat log
	echo "doctor.sh: the programs do not build"
	exit 1
}

expect "$machine" plain
says 'linked to no CUDA library'
says 'library calls: none to see; driver calls: on; '
says 'NVTX: not used by the program'
says 'has debug information'
expect 1 bare
says 'call sites are addresses only'
expect "$machine" runtime
says "linked in (nvcc's default), CUDA 12.4"
says 'imports dlopen'
says 'library calls: if the program loads libraries; driver calls: on; '
says 'NVTX: ranges are recorded as steps and layers'
says 'The change that helps most: link with nvcc -cudart shared'
TFSHIM_OPTIONS=driver=0 expect 1 runtime
says 'remove driver=0 from TFSHIM_OPTIONS'
mkdir other && "$compiler" -shared -fPIC -Wl,-soname,libcudart.so.13 -o other/libcudart.so.13 cudart.c &&
	"$compiler" -shared -fPIC -Wl,-soname,libnewer.so -o libs/libnewer.so newer.c other/libcudart.so.13 &&
	"$compiler" -g -o two two.c libs/libnewer.so libs/libcudart.so.12 -ldl "-Wl,-rpath,\$ORIGIN/libs" \
		-Wl,--allow-shlib-undefined || wrong "the program with two runtimes does not build"
expect "$machine" two
says 'two versions of one library: libcudart.so.12, and libcudart.so.13 needed by'
says 'libs/libnewer.so. Each caller'
says 'imports dlmopen'
says 'deepbind=0'
expect "$machine" linked
says 'libcudart.so.12: linked dynamically'
says 'library calls: on; driver calls: on; '
# shellcheck disable=SC2016 # as the loader reads it
says '$ORIGIN/libs'
says 'libs/libmine.so contains a linked-in CUDA runtime'
# A runtime in a library of a library, whichever way each of them is found; a cycle; a missing one.
echo 'const char *library_text(void); const char *deep(void); const char *deep(void) { return library_text(); }' >deep.c
echo 'const char *deep(void); int main(void) { return !deep(); }' >deeper.c
mkdir -p far/own old both && cp libs/libmine.so far/own/ &&
	"$compiler" -shared -fPIC -Wl,-soname,libdeep.so -o far/libdeep.so deep.c far/own/libmine.so \
		"-Wl,--enable-new-dtags,-rpath,\$ORIGIN/own" &&
	"$compiler" -g -o deeper deeper.c far/libdeep.so "-Wl,-rpath,\$ORIGIN/far" \
		-Wl,--allow-shlib-undefined &&
	"$compiler" -shared -fPIC -Wl,-soname,libdeep.so -o old/libdeep.so deep.c far/own/libmine.so &&
	"$compiler" -g -o older deeper.c old/libdeep.so \
		"-Wl,--disable-new-dtags,-rpath,\$ORIGIN/old:\$ORIGIN/far/own" \
		-Wl,--allow-shlib-undefined &&
	"$compiler" -g -o newer deeper.c old/libdeep.so \
		"-Wl,--enable-new-dtags,-rpath,\$ORIGIN/old:\$ORIGIN/far/own" \
		-Wl,--allow-shlib-undefined &&
	"$compiler" -shared -fPIC -Wl,-soname,libmine.so -o both/libmine.so library.c &&
	"$compiler" -shared -fPIC -Wl,-soname,libdeep.so -o both/libdeep.so deep.c both/libmine.so &&
	"$compiler" -shared -fPIC -Wl,-soname,libmine.so -o both/libmine.so library.c \
		-Wl,--no-as-needed both/libdeep.so || wrong "the programs with deep libraries do not build"
expect "$machine" deeper
says 'far/own/libmine.so contains a linked-in CUDA runtime'
expect "$machine" older
says 'far/own/libmine.so contains a linked-in CUDA runtime'
# DT_RUNPATH is for what the file itself asks for.
expect "$machine" newer
says 'libmine.so, needed by'
says 'old/libdeep.so, not found'
LD_LIBRARY_PATH=both expect "$machine" newer
says 'both/libmine.so contains a linked-in CUDA runtime'
rm far/own/libmine.so
expect "$machine" deeper
says 'far/libdeep.so, not found'

# CUPTI as the traced process will find it: beside the program's libraries, or in a toolkit. Only
# with a driver.
echo 'int cuInit(unsigned flags); int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *out); int cuDeviceGetCount(int *out) { *out = COUNT; return 0; }' >driver.c
mkdir driver bare_driver && "$compiler" -shared -fPIC -DCOUNT=1 -o driver/libcuda.so.1 driver.c &&
	"$compiler" -shared -fPIC -DCOUNT=0 -o bare_driver/libcuda.so.1 driver.c || wrong "the driver does not build"
echo 'int cuptiGetVersion(unsigned *out); int cuptiGetVersion(unsigned *out) { *out = 120099; return 0; }' >cupti.c
mkdir -p wheels/cuda_runtime/lib wheels/cuda_cupti/lib toolkit/extras/CUPTI/lib64 nothing
"$compiler" -shared -fPIC -o wheels/cuda_cupti/lib/libcupti.so.12 cupti.c &&
	cp wheels/cuda_cupti/lib/libcupti.so.12 toolkit/extras/CUPTI/lib64/ &&
	cp libs/libcudart.so.12 wheels/cuda_runtime/lib/ &&
	"$compiler" -g -o wheeled linked.c libs/libmine.so wheels/cuda_runtime/lib/libcudart.so.12 \
		"-Wl,-rpath,\$ORIGIN/wheels/cuda_runtime/lib:\$ORIGIN/libs" || wrong "the wheels do not build"
before=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH="$folder/driver${before:+:$before}"
expect 0 wheeled
says 'wheels/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12, version 120099'
says 'device activity: on'
for name in 13 12 11.8; do
	: >"nothing/libcupti.so.$name"
done
export LD_LIBRARY_PATH="$folder/nothing:$folder/driver${before:+:$before}"
CUDA_HOME=$folder/toolkit expect 0 --require gpu,cupti bare
CUDA_HOME=$folder/toolkit expect 1 bare
CUDA_HOME=$folder/toolkit TFSHIM_OPTIONS=cupti=0 expect 1 --require gpu,cupti
CUDA_HOME=$folder/toolkit TFSHIM_OPTIONS=cupti=0 expect 0 --require gpu
CUDA_HOME=$folder/toolkit expect 2 --require gpu,cupti ./absent
CUDA_HOME=$folder/toolkit expect 0 plain
says 'toolkit/extras/CUPTI/lib64/libcupti.so.12, version 120099'
CUDA_PATH=$folder/toolkit expect 0
says 'toolkit/extras/CUPTI/lib64/libcupti.so.12, version 120099'
# A driver, and no device.
export LD_LIBRARY_PATH="$folder/nothing:$folder/bare_driver${before:+:$before}"
CUDA_HOME=$folder/toolkit expect 1 plain
says 'finds no usable GPU'
CUDA_HOME=$folder/toolkit expect 1 --require gpu
CUDA_HOME=$folder/toolkit expect 0 --require cupti
LD_LIBRARY_PATH=$before

# Options of the shim's own, as it reads them.
TFSHIM_OPTIONS=driver=0:driver=1 expect "$machine" runtime
says 'driver calls: on'
TFSHIM_OPTIONS=nvtx=0 expect "$machine" runtime
says 'NVTX: off'
TFSHIM_OPTIONS=nvtx=0:nvtx=off expect "$machine" runtime
says 'NVTX: off'
TFSHIM_OPTIONS=cupti=0 expect 1 plain
says 'remove cupti=0 from TFSHIM_OPTIONS'
TFSHIM_PROCESS='pl*' expect "$machine" plain
TFSHIM_PROCESS='other*' expect 1 plain
says 'does not match plain: tfshim does nothing'

# A library, what only looks like a program, and programs that cannot be preloaded.
expect 1 libs/libmine.so
says 'is a library'
"$compiler" -c plain.c && expect 2 plain.o
says 'plain.o: not a program'
"$compiler" -g -o foreign plain.c -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
expect 1 foreign
says "is started by /lib/ld-musl-x86_64.so.1, not by glibc's loader"
cp plain still && chmod a-x still
expect 1 still
says 'may not be executed'
if cp plain able && setcap cap_net_raw+ep able 2>/dev/null; then
	expect 1 able
	says 'has file capabilities'
fi
mkdir onpath && cp plain onpath/only-on-path
PATH=$folder/onpath:$PATH expect "$machine" only-on-path
says 'has debug information'

# Debug files apart, found by a link with and without a build id, or by the build id alone.
apart='debug information found in a separate file'
if command -v objcopy >log && ldd "$tfshim" | grep -q libdw; then
	for id in sha1 none; do
		"$compiler" -g "-Wl,--build-id=$id" -o split plain.c
		objcopy --only-keep-debug split split.debug
		objcopy -S --add-gnu-debuglink=split.debug split
		expect "$machine" split
		says "$apart"
		mkdir -p .debug && mv split.debug .debug/
		expect "$machine" split
		says "$apart"
		rm .debug/split.debug
		expect 1 split
		says 'call sites are addresses only'
	done
	id=0123456789abcd
	"$compiler" -g "-Wl,--build-id=0x01$id" -o named plain.c
	mkdir -p ids/.build-id/01
	objcopy --only-keep-debug named "ids/.build-id/01/$id.debug"
	objcopy -S named
	expect 1 named
	if unshare -rm mount --bind ids /usr/lib/debug 2>log; then
		unshare -rm sh -c 'mount --bind ids /usr/lib/debug && exec "$@"' sh \
			"$tfshim" doctor --color never named >out 2>err
		says "$apart"
	fi
fi

if "$compiler" -static -g -o whole plain.c >log 2>&1; then
	expect 1 whole
	says 'is fully static (-static)'
	says 'link without -static'
fi
cp plain raised && chmod u+s raised
expect 1 raised
says 'set-uid'

CUDA_INJECTION64_PATH=/opt/tool.so expect 1 plain
says 'CUDA_INJECTION64_PATH=/opt/tool.so: this tool may use CUPTI'
NVTX_INJECTION64_PATH=/opt/tool.so expect "$machine" plain
says 'passed on to it'
TFSHIM_DISABLE=1 expect 1 plain
says 'unset TFSHIM_DISABLE'
SLURM_PROCID=3 expect "$machine" plain
says 'SLURM_PROCID=3'

# Bad input.
expect 2 ./absent
expect 2 .
: >empty
expect 2 empty
printf '#!/bin/sh\n' >script
expect "$machine" script
says 'a script'
# Python: what is seen of it, by whatever it is called.
printf '#!/usr/bin/env python3\n' >trains
echo 'import torch' >train.py
cp plain python3.11 && cp plain pythonic
for program in trains train.py ./python3.11; do
	expect 1 "$program"
	says 'runs Python'
	says 'lines of Python with CPython 3.9 to 3.14'
done
expect "$machine" ./pythonic
! grep -q 'runs Python' out || wrong "a program of another name is taken for Python"
# A library that is there and cannot be read.
cp libs/libmine.so whole_library
head -c 2000 whole_library >libs/libmine.so
expect 1 linked
says 'libs/libmine.so, needed by'
says 'cannot be read'
cp whole_library libs/libmine.so
echo 'plain text' >text
expect "$machine" text
says 'built for another processor'
expect 2 --no-such-option
expect 2 plain absent
cp plain secret && chmod 000 secret
if ! cat secret >/dev/null 2>&1; then
	expect 2 secret
	says 'Permission denied'
fi
bytes=$(wc -c <plain)
for part in 4 16 40 64 100 500 $((bytes / 2)) $((bytes - 100)); do
	head -c "$part" plain >cut
	expect 2 cut
	says 'truncated or damaged ELF file'
done
# Damaged anywhere in its headers: an answer, and no crash.
at=4
while [ "$at" -lt 1200 ]; do
	cp linked hurt
	printf '\377\377\377' | dd of=hurt bs=1 seek="$at" conv=notrunc 2>/dev/null
	timeout 60 "$tfshim" doctor hurt >out 2>err
	got=$?
	[ "$got" -le 2 ] || wrong "damage at byte $at ended with $got"
	at=$((at + 29))
done

if [ -n "$nvcc" ]; then
	echo 'int main() { int *p; return cudaMalloc(&p, 4); }' >real.cu
	if "$nvcc" -g -o real real.cu >log 2>&1 && "$nvcc" -g -cudart shared -o shared real.cu >>log 2>&1; then
		expect "$machine" real
		says "linked in (nvcc's default), CUDA 1"
		expect "$machine" shared
		says ', shared'
	else
		cat log
		wrong "nvcc does not build"
	fi
else
	echo "no nvcc: a real static runtime was not tried"
fi
exit "$failed"
