#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the project another way and runs the quick tests of that build: variant.sh NAME SOURCE DIR
#
#   clang     the other compiler, warnings as errors
#   sanitize  AddressSanitizer and UndefinedBehaviorSanitizer
set -eu

name=$1
source=$2
dir=$3/$name
set -- -Dbuildtype=debugoptimized
case $name in
clang)
	if ! command -v clang >/dev/null; then
		echo "clang is not installed"
		exit 77
	fi
	CC=clang
	export CC
	;;
sanitize)
	# gcc's warnings are misled by what the sanitizers insert.
	set -- "$@" -Db_sanitize=address,undefined -Dwerror=false
	# What a test program leaves to the end of its process is no defect.
	ASAN_OPTIONS=detect_leaks=0
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export ASAN_OPTIONS UBSAN_OPTIONS
	;;
*)
	echo "no variant '$name'"
	exit 1
	;;
esac

[ -f "$dir/build.ninja" ] || meson setup "$@" "$dir" "$source"
ninja -C "$dir"
# Suites that preload the library or train for minutes tell nothing more here.
exec meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 5 \
	--suite unit --suite sim --suite reports
