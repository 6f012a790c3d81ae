#!/bin/sh
# SPDX-License-Identifier: MIT
# Memory, files and threads that the shim asks for fail at random; the program goes on as if nothing
# was: shim_failing.sh SHIM PROGRAMS TRAINER DIGITS
set -u

shim=$1
programs=$2
trainer=$3
digits=$4
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

seeds=8
[ -z "${TFSHIM_LONG-}" ] || seeds=200
after=$programs/libshim_failing.so

# under PERCENT SEED NAME COMMAND...
under() {
	SHIM_FAILING=$1:$2
	export SHIM_FAILING
	kind=$3
	shift 3
	watched failing record=all "$@"
	before_this=$failed
	same failing "$kind"
	[ "$failed" = "$before_this" ] || echo "  with SHIM_FAILING=$SHIM_FAILING"
	if [ -f "$work/failing.tfs" ]; then
		look failing
		recordings=$((recordings + 1))
	fi
	refused=$((refused + $(sed -n 's/^tfshim-test: \([0-9]*\) of .* refused$/\1/p' \
		"$work/failing.err")))
}

recordings=0
refused=0
runs=0
bare ending "$programs/shim_ending" return
bare errno "$programs/shim_errno"
bare threads "$programs/shim_threads" 16 1
bare trainer "$trainer" --data "$digits" --steps 10 --deterministic
seed=0
while [ $seed -lt $seeds ]; do
	seed=$((seed + 1))
	for percent in 5 20 60; do
		under $percent $seed ending "$programs/shim_ending" return
		under $percent $seed errno "$programs/shim_errno"
		under $percent $seed threads "$programs/shim_threads" 16 1
		runs=$((runs + 3))
	done
	if [ $((seed % 4)) = 0 ]; then
		under 30 $seed trainer "$trainer" --data "$digits" --steps 10 --deterministic
		runs=$((runs + 1))
	fi
done
[ $refused -gt $runs ] || fail "only $refused requests were refused"
[ $recordings -gt 10 ] || fail "only $recordings recordings came out"
echo "$runs runs, $refused requests refused, $recordings recordings, all readable"
exit "$failed"
