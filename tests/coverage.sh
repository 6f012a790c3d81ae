#!/bin/sh
# SPDX-License-Identifier: MIT
# How many lines of the sources the tests of units, of the command and of rules run, by folder.
#
#   sh tests/coverage.sh [BUILD]     status 1 when a folder is below its floor; BUILD is kept
#                                    (default build/coverage)
set -eu

# What was measured, in percent, less one or two for what not every run comes through. The rest of
# shim/ is run by tests of hooks and of rewrites, which are not counted here.
floors='shim=58 cupti=75 rules=94 reports=94'

source=$(cd "$(dirname "$0")/.." && pwd)
dir=${1-$source/build/coverage}

# Not optimised: a line that was merged with another has no count of its own.
[ -f "$dir/build.ninja" ] || meson setup -Dbuildtype=debug -Db_coverage=true "$dir" "$source"
ninja -C "$dir" build.ninja
names=$(python3 "$source/tests/coverage.py" tests "$dir")
# shellcheck disable=SC2086 # a list of words
targets=$(python3 "$source/tests/summary.py" targets "$dir" $names)
# shellcheck disable=SC2086 # as above
ninja -C "$dir" $targets
find "$dir" -name '*.gcda' -delete
# shellcheck disable=SC2086 # as above
meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 8 $names
# shellcheck disable=SC2086 # as above
exec python3 "$source/tests/coverage.py" lines "$dir" "$source" $floors
