#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds one fuzz target with clang and runs it: run.sh TARGET OUT FLAG... -- SOURCE...
#
# TARGET names tests/fuzz/TARGET.c, which holds LLVMFuzzerTestOneInput(); SOURCE are the files
# under test. Ten seconds, ten minutes with TFSHIM_LONG=1, or TFSHIM_FUZZ_SECONDS. Starts from
# tests/fuzz/corpus/TARGET, which is only read and holds what once failed; new finds go to
# OUT/TARGET.corpus and are worth adding when they are small. What fails leaves its input in
# OUT/TARGET.failed, and is no skip (77), as the fuzzer would have it.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
target=$1
out=$2
shift 2
if ! command -v clang >/dev/null; then
	echo "clang is not installed"
	exit 77
fi
seconds=10
[ -z "${TFSHIM_LONG-}" ] || seconds=600
seconds=${TFSHIM_FUZZ_SECONDS-$seconds}
flags=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	flags="$flags $1"
	shift
done
[ $# -eq 0 ] || shift

mkdir -p "$out/$target.corpus" "$out/$target.failed"
corpus=$root/tests/fuzz/corpus/$target
[ -d "$corpus" ] || corpus=
# shellcheck disable=SC2086 # a list of flags
if ! clang -g -O1 -D_GNU_SOURCE -std=gnu11 -I"$root" $flags \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	"$root/tests/fuzz/$target.c" "$@" -o "$out/$target"; then
	echo "no build with clang and its fuzzer (libclang-rt-14-dev)"
	exit 1
fi
cd "$out"
"./$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=1048576 \
	-error_exitcode=1 -print_final_stats=1 -verbosity=0 -artifact_prefix="$out/$target.failed/" \
	"$out/$target.corpus" ${corpus:+"$corpus"} || {
	echo "failed: the input is in $out/$target.failed; it belongs into tests/fuzz/corpus/$target"
	exit 1
}
