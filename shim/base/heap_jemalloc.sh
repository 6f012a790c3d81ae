#!/bin/sh
# SPDX-License-Identifier: MIT
# jemalloc for the shim alone: heap_jemalloc.sh NM OBJCOPY ARCHIVE OUTPUT
#
# Whatever the archive defines is tfje_* in the output, so that malloc stays the program's, and
# nothing runs while it is loaded. What it takes from others and must not have is answered by
# heap_jemalloc.c.
set -eu
nm=$1 objcopy=$2 archive=$3 output=$4

answered='_Unwind_Backtrace _Unwind_GetIP atexit creat dlsym exp log open pthread_atfork pthread_create
pthread_key_create readlink round sbrk secure_getenv syscall sysconf'
{
	"$nm" -g --defined-only "$archive" | awk 'NF == 3 { print $3 }'
	printf '%s\n' $answered
} | LC_ALL=C sort -u | sed 's/.*/& tfje_&/' >"$output.names"
"$objcopy" --redefine-syms="$output.names" --remove-section=.init_array \
	--remove-section=.rela.init_array "$archive" "$output"
