#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the project another way and runs quick tests of that build: variant.sh NAME SOURCE DIR
#
#   clang            the other compiler, warnings as errors; without TFSHIM_LONG what is installed
#                    and what the tests below need, else all of it
#   sanitize         AddressSanitizer and UndefinedBehaviorSanitizer
#   without-OPTION   one of meson_options.txt off, the rest as they are
#   without-all      all of them off
set -eu

name=$1
source=$2
dir=$3/$name
# Of a build that lacks something: what starts in a program, what reads, and the program unchanged.
quick='callsite cli-doctor cli-report env exports heap reader shim-errno shim-names
	shim-same-lenet_naive shim-threads symbols threads'

# The options that can be off, with the value that says so.
options() {
	sed -nE "s/^option\('([a-z_]+)', type: 'boolean'.*/\1=false/p
		s/^option\('([a-z_]+)', type: 'feature'.*/\1=disabled/p" "$source/meson_options.txt"
}

set -- -Dbuildtype=debug
# Suites that preload the library or train for minutes tell nothing more of another build.
suites=
case $name in
clang)
	suites=${TFSHIM_LONG:+unit}
	if ! command -v clang >/dev/null; then
		echo "clang is not installed"
		exit 77
	fi
	CC=clang
	export CC
	;;
sanitize)
	# The simulated device takes as long as all else; reports are fuzzed with the same sanitizers.
	suites="unit${TFSHIM_LONG:+ reports sim}"
	# gcc's warnings are misled by what the sanitizers insert.
	set -- -Ddebug=true -Doptimization=1 -Db_sanitize=address,undefined -Dwerror=false
	# What a test program leaves to the end of its process is no defect.
	ASAN_OPTIONS=detect_leaks=0
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export ASAN_OPTIONS UBSAN_OPTIONS
	;;
without-all)
	for off in $(options); do
		set -- "$@" "-D$off"
	done
	;;
without-*)
	off=$(options | grep "^${name#without-}=") || { echo "no option '${name#without-}'"; exit 1; }
	set -- "$@" "-D$off"
	;;
*)
	echo "no variant '$name'"
	exit 1
	;;
esac

[ -f "$dir/build.ninja" ] || meson setup "$@" "$dir" "$source"
# The tests as they are listed now.
ninja -C "$dir" build.ninja
[ "$name" != clang ] || [ -z "${TFSHIM_LONG-}" ] || ninja -C "$dir" # for the warnings
tests=
for suite in $suites; do
	# Races are the usual compiler's: what clang's sanitizer finds, and is told to pass over, it may
	# never finish to describe while another thread lists the objects that are loaded. Chances that
	# are drawn a million times are the same in every build. Programs that are not of this build do
	# not bear a library with sanitizers.
	tests="$tests $(python3 "$source/tests/summary.py" names "$dir" "$suite" |
		grep -vE '^(races-|measure-rates$|patched$|cli-doctor$)')"
done
# shellcheck disable=SC2086 # a list of words
set -- ${tests:-$quick}
# shellcheck disable=SC2046 # a list of words
ninja -C "$dir" shim/libtfshim.so reports/tfshim \
	$(python3 "$source/tests/summary.py" targets "$dir" "$@")
exec meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 5 "$@"
