#!/bin/sh
# SPDX-License-Identifier: MIT
# sim_reach.sh REACH LIBRARIES PROGRAM: tests/promises/told/reach.sh counts each name that the program asked for
# in vain, keeps the program's status, and adds up several processes.
set -u

reach=$1 libraries=$2 program=$3
failed=0
export TFSIM_PACE=0
unset TFSIM_CALLS LD_PRELOAD

# expect WHAT GOT WANTED
expect() {
	[ "$2" = "$3" ] && return
	printf '%s:\n%s\ninstead of:\n%s\n' "$1" "$2" "$3"
	failed=1
}

# table TIMES: what is said of a program that ran so often
table() {
	echo "call-not-supported $((3 * $1)) cudaIpcGetMemHandle"
	echo "call-not-supported $1 cudaMallocArray"
	i=17
	while [ $i -gt 0 ]; do
		printf 'kernel-skipped %d k%02d\n' $((i * $1)) $i
		i=$((i - 1))
	done
}

rows() { sed -n 's/^reach: *\([a-z-]*\)  *\([0-9-]*\)  \([^ ]*\)$/\1 \2 \3/p'; }

said=$(sh "$reach" "$libraries" "$program" 2>&1 >/dev/null)
expect "the status" $? 3
expect "the table" "$(echo "$said" | rows)" "function-missing - cusolverDnNowhere
$(table 1)"
linked=$(nm -D --undefined-only "$program" | grep -c ' cu')
expect "the last line" "$(echo "$said" | tail -n 1)" \
	"reach: 1 of $linked linked functions missing, 2 not supported, 17 kernels without a CPU version, exit status 3"

said=$(sh "$reach" "$libraries" sh -c '"$0"; "$0"; exit 0' "$program" 2>&1 >/dev/null)
expect "the status of two" $? 0
expect "the table of two" "$(echo "$said" | rows)" "$(table 2)"
exit "$failed"
