#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a program whose checks must notice that something is wrong: fails.sh PROGRAM [ARGUMENT...]
# That is so when a check says what it found and the program ends by its own with 1. A crash, a
# time-out, another status, or silence is a failure here; a skip is a skip.
set -u

# A device that is wrong on purpose comes back to memory that its program has left.
if [ -n "${ASAN_OPTIONS+set}" ]; then
	echo "skipped: AddressSanitizer would notice before the checks do"
	exit 77
fi
told=$(timeout 120 "$@" 2>&1)
got=$?
printf '%s\n' "$told"
[ "$got" != 77 ] || exit 77
if [ "$got" != 1 ]; then
	echo "fails.sh: it ended with $got, not with the checks' 1"
	exit 1
fi
found=$(printf '%s\n' "$told" | grep -cE '^[^ ]+\.[ch]:[0-9]+: (not so: .|.* is .*, not ).*')
if [ "$found" = 0 ]; then
	echo "fails.sh: no check says what it found"
	exit 1
fi
echo "fails.sh: $found checks noticed it"
