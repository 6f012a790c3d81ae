#!/bin/sh
# SPDX-License-Identifier: MIT
# The library for aarch64, as far as it can be had here: aarch64.sh SOURCE BUILD CUDA_HOME
#
# Assembles the jumps of dlsym, and runs them in an emulator. With TFSHIM_LONG=1, builds the whole
# library, with no unwinder, whose headers differ, and runs the driver's client under it.
set -u
source=$1 build=$(realpath "$2") cuda=$3
jumps=tests/driver/dlsym_jumps.c
root=${AARCH64_ROOT:-/usr/aarch64-linux-gnu}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
failed=0

wrong() {
	echo "$1"
	failed=1
}

emulate() {
	timeout 120 qemu-aarch64 -L "$root" "$@"
}

if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
	command -v clang >/dev/null || { echo "skipped: no compiler for aarch64"; exit 77; }
	clang --target=aarch64-linux-gnu -c shim/resolve/dlsym_aarch64.S -o "$work/jumps.o" || exit 1
	echo "assembled; nothing to link it with (gcc-aarch64-linux-gnu)"
	exit 0
fi
compile() {
	aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE '-DTFS_VERSION="0"' -DTFS_MUTANTS=0 -O1 -fPIC \
		-I. -I"$build" -isystem "$cuda/include" "$@"
}
compile -Wall -Wextra -Werror "$jumps" shim/resolve/dlsym_aarch64.S -o "$work/jumps" || exit 1
command -v qemu-aarch64 >/dev/null || { echo "linked; nothing to run it in (qemu-user)"; exit 0; }
emulate "$work/jumps" || wrong "the jumps go wrong"
[ "${TFSHIM_LONG-0}" = 1 ] || exit "$failed"

mkdir "$work/objects" "$work/first" "$work/other"
cat >"$work/no_unwind.c" <<'C'
#include "shim/record/unwind.h"
void tfs_unwind_load(void) {}
bool tfs_unwind_ready(void) { return false; }
bool tfs_unwind_settled(void) { return true; }
uint32_t tfs_unwind(uint64_t from, uint32_t pointers, struct tfs_stack_frame *out, uint32_t most)
{
	(void)from, (void)pointers, (void)out, (void)most;
	return 0;
}
C
for file in $(find shim cupti -name '*.c' ! -path 'shim/inject/*' ! -path 'shim/trace/reader/*') \
	"$build"/shim/hooks/*.c "$work/no_unwind.c"; do
	case $file in shim/record/unwind.c | shim/base/heap_jemalloc.c | cupti/collector_none.c) continue ;; esac
	compile -fvisibility=hidden -Wall -Wextra -Werror -c "$file" \
		-o "$work/objects/$(echo "$file" | tr / _).o" || wrong "$file"
done
compile -shared "$work"/objects/*.o shim/resolve/dlsym_aarch64.S -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete \
	-o "$work/libtfshim.so" || exit 1
for folder in first other; do
	compile -w -shared -fvisibility=hidden -Wl,-Bsymbolic tests/driver/driver_client_fake.c \
		-o "$work/$folder/libcuda.so.1" || exit 1
done
compile tests/driver/driver_client_hostile.c -o "$work/hostile" || exit 1
for case in versions forms refused threads twice again; do
	rm -f "$work"/seen.tfs
	emulate -E LD_PRELOAD="$work/libtfshim.so" -E TFSHIM_OPTIONS=report=0:record=none \
		-E TFSHIM_OUTPUT="$work/seen" "$work/hostile" "$case" "$work/first/libcuda.so.1" \
		"$work/other/libcuda.so.1" || wrong "$case"
	count=$("$build/tests/tools/ledger" "$work/seen.tfs" 2>/dev/null |
		awk '$2 == "cuMemAlloc_v2" { sum += $3 } END { print sum + 0 }')
	case $case in
	versions) [ "$count" = 1007 ] ;;
	forms) [ "$count" = 4 ] ;;
	*) true ;;
	esac || wrong "$case: $count calls of cuMemAlloc_v2 were seen"
done
exit "$failed"
