#!/bin/sh
# SPDX-License-Identifier: MIT
# Do the tests notice when the code is wrong? Changes one line at a time in a copy of the tree, as
# universalmutator does it, and runs the tests that run this line:
#
#   sh tests/mutants.sh [--count N] [--seed N] [--seconds N] [--jobs N] [--unmeasured] [FOLDER...]
#
#   --count N    mutants per folder; 60
#   --seed N     of the choice; 1
#   --seconds N  of a processor for one mutant, the likeliest tests first (asked.py); 120
#   --jobs N     compilers and tests at a time; as many as there are cores
#   --unmeasured asks the tests that are made of the mutant's file
#   FOLDER       of shim, cupti, rules, reports, tests/sim; all of them
#
# Which tests run a line is measured first, in a build of its own (reach.py). Hours: it prints each
# mutant's end and goes on where it was stopped. What killed a mutant counts as long as its file is as
# it was; survivors are tried again when anything has changed. All of it is kept in build/mutation.
# Status 1 where a folder stays below 85 %.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
work=$root/build/mutation
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_LOG TFSHIM_DISABLE TFSHIM_RANK \
	TFSHIM_PROCESS LD_PRELOAD

case ${1-} in
--help | -h)
	sed -n '3,18s/^# \{0,1\}//p' "$0"
	exit 0
	;;
esac
[ -f build/build.ninja ] || { echo "mutants: build first: sh tests/run.sh --filter unit" >&2; exit 2; }
mkdir -p "$work"
if [ ! -x "$work/venv/bin/mutate" ]; then
	python3 -m venv "$work/venv" || { echo "mutants: needs python3-venv" >&2; exit 2; }
	"$work/venv/bin/pip" install -q universalmutator==1.14.1
fi
exec python3 tests/mutants.py "$root" "$work" "$@"
