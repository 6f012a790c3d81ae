#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, and runs the tests.
#
#   sh tests/run.sh [--long] [--filter WORD]
#
#   --long         also what takes many minutes: more seeds, more kills, longer fuzzing, cuDNN and
#                  NCCL from wheels (3 GB to download, kept). With CI set in the environment, a
#                  slice of that: other compilers, sanitizers, fuzzing, other devices' profiles
#   --filter WORD  only tests with WORD in their name or suite; builds what they need
#
# The last line is "N passed, N failed", with ", N skipped" where there are any. A set-up or
# build that fails counts as one failed test.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
long=
filter=
while [ $# -gt 0 ]; do
	case $1 in
	--long) long=yes ;;
	--filter)
		[ $# -gt 1 ] || { echo "run: --filter needs a word" >&2; exit 2; }
		filter=$2
		shift
		;;
	*)
		sed -n '3,11s/^# \{0,1\}//p' "$0" >&2
		[ "$1" = --help ] || exit 2
		exit 0
		;;
	esac
	shift
done

# Left over from a user's own runs, they would change what the tests see.
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_LOG TFSHIM_DISABLE TFSHIM_RANK \
	TFSHIM_PROCESS LD_PRELOAD

# Debian's OpenBLAS takes a processor that is younger than itself for a Pentium 4.
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -qsw avx2 /proc/cpuinfo; then
	OPENBLAS_CORETYPE=Haswell
	export OPENBLAS_CORETYPE
fi

stop() {
	echo
	echo "FAILED: $1"
	echo
	echo "0 passed, 1 failed"
	exit 1
}

# For a few tests, what this setup.sh has installed once is not looked at again.
if [ -z "$filter" ] || [ ! build/.for-tests -nt tests/setup.sh ]; then
	sh tests/setup.sh tests || stop "setup"
fi
if [ ! -f build/build.ninja ]; then
	meson setup build || stop "configuration"
elif [ ! -f build/.for-tests ]; then
	# Configured by the demo, which installs less.
	{ meson configure build --clearcache && meson setup --reconfigure build; } ||
		stop "configuration"
fi
touch build/.for-tests

names=
targets=
if [ -n "$filter" ]; then
	# As the tests are listed now.
	ninja -C build build.ninja || stop "configuration"
	names=$(python3 tests/summary.py names build "$filter" ${long:+long})
	if [ -z "$names" ]; then
		echo "run: no test has '$filter' in its name or suite" >&2
		exit 2
	fi
	# shellcheck disable=SC2086 # a list of words
	targets=$(python3 tests/summary.py targets build $names)
fi
if [ -z "$filter" ] || [ -n "$targets" ]; then
	# shellcheck disable=SC2086 # a list of words
	ninja -C build $targets || stop "build"
fi

TFSHIM_LONG=${long:+1}
export TFSHIM_LONG
# More than half of what a test takes is waiting for devices, folders and children that are late on
# purpose.
set -- --no-rebuild -C build --num-processes $(($(nproc) * 3))
if [ -n "$long" ]; then
	set -- "$@" --timeout-multiplier 20
else
	# Limits are for what hangs: on a quiet machine, they are ten times what a test takes.
	set -- "$@" --timeout-multiplier 4 --no-suite long
	[ -n "${CI-}" ] || [ -n "$filter" ] || set -- "$@" --no-suite slice
fi
# shellcheck disable=SC2086 # a list of words
set -- "$@" $names

log=build/meson-logs/testlog.json
rm -f "$log"
# Its own status says less than the log: a crash of the harness leaves no log.
meson test "$@" || true
[ -f "$log" ] || stop "no test ran"
exec python3 tests/summary.py results "$log"
