#!/bin/sh
# SPDX-License-Identifier: MIT
# Killed at random moments, the recording can be read: shim_kill.sh SHIM PROGRAMS
# The program says how many calls it has made; no more than those under way may be missing.
set -u

shim=$1
programs=$2
# shellcheck source=tests/programs/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

kills=20
[ -z "${TFSHIM_LONG-}" ] || kills=200
done=0
worst=0
seed=${TFSHIM_SEED-$$}
echo "seed $seed"
# shellcheck disable=SC2013 # words are what is wanted
for delay in $(awk -v seed="$seed" -v count=$kills 'BEGIN { srand(seed)
	for (i = 0; i < count; i++) print int(rand() * rand() * 400) }'); do
	options=record=all:limit=64m
	[ $((done % 3)) != 2 ] || options=record=windows
	rm -f "$work/kill.tfs" "$work/kill.count"
	TFSHIM_OUTPUT=$work/kill TFSHIM_OPTIONS=report=0:$options TFSHIM_REWRITE=off \
		LD_PRELOAD=$shim "$programs/shim_killed" "$work/kill.count" "$delay" >"$work/said" 2>&1
	status=$?
	done=$((done + 1))
	[ $status = 137 ] || { fail "not killed: $status"; cat "$work/said"; continue; }
	[ -f "$work/kill.tfs" ] || continue
	look kill
	[ "$failed" = 0 ] || break
	made=$(od -An -t u8 "$work/kill.count" | awk '{ print $1; exit }')
	counted=$(value kill total cudaStreamQuery)
	# One call per thread may be under way.
	missing=$((made - counted))
	missing=${missing#-}
	[ "$missing" -le 4 ] || fail "after $delay ms: $made calls made, $counted counted"
	# Where all is recorded, so are the calls but the last of each thread.
	if [ "$options" != record=windows ] && [ "$(value kill lost)" = 0 ]; then
		recorded=$(value kill calls)
		short=$(($(value kill counted) - recorded))
		[ "${short#-}" -le 4 ] ||
			fail "after $delay ms: $(value kill counted) calls counted, $recorded recorded"
	fi
	[ "$missing" -le "$worst" ] || worst=$missing
done
echo "$done kills, at most $worst calls missing"
exit "$failed"
