#!/bin/sh
# SPDX-License-Identifier: MIT
# sim_same.sh PROGRAM: two runs of the program, the second beside a busy loop, print the same.
first=$("$1") || { echo "$first"; exit 1; }
sh -c 'while :; do :; done' &
busy=$!
second=$("$1")
status=$?
kill $busy
[ $status = 0 ] || { echo "$second"; exit 1; }
[ "$first" = "$second" ] && exit 0
echo "first:"; echo "$first"
echo "second:"; echo "$second"
exit 1
