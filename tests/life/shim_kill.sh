#!/bin/sh
# SPDX-License-Identifier: MIT
# Killed at random moments, the recording can be read: shim_kill.sh SHIM PROGRAMS
# The program says how many calls it has made. Under tfshim run no more than those under way may be
# missing; without it, what was recorded comes to the file soon, without anybody's doing.
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

# word NUMBER: of what the program says
word() {
	od -An -v -t u8 "$work/kill.count" 2>/dev/null | awk -v at="$1" '{ print $at; exit }'
}

# One call per thread may be under way; where all is recorded, so are the calls but those.
all_there() {
	made=$(word 1)
	missing=$((made - $(value kill total cudaStreamQuery)))
	missing=${missing#-}
	[ "$missing" -le 4 ] || fail "after $delay ms: $missing of $made calls missing"
	[ "$missing" -le "$worst" ] || worst=$missing
	[ "$options" != record=windows ] && [ "$(value kill lost)" = 0 ] || return 0
	short=$(($(value kill counted) - $(value kill calls)))
	[ "${short#-}" -le 4 ] || fail "after $delay ms: $short calls counted and not recorded"
	whole=$((whole + 1))
}

# Killed after all its calls were made, when they are in the file.
settled() {
	rm -f "$work/kill.tfs" "$work/kill.count"
	TFSHIM_OUTPUT=$work/kill TFSHIM_OPTIONS=report=0:quiet=1:record=all:limit=64m \
		TFSHIM_REWRITE=off LD_PRELOAD=$shim "$programs/shim_killed" "$work/kill.count" 50 stay \
		>"$work/said" 2>&1 &
	victim=$!
	tries=0
	while [ $tries -lt 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
		[ "$(word 2)" = 1 ] || continue
		"$programs/shim_trace" "$work/kill.tfs" >"$work/kill.look" || break
		[ "$(value kill total cudaStreamQuery)" != "$(word 1)" ] ||
			[ "$(value kill calls)" != "$(value kill counted)" ] || break
	done
	kill -9 $victim
	wait $victim 2>/dev/null
	look kill
	expect kill total cudaStreamQuery "$(word 1)"
	expect kill calls "$(value kill counted)"
	sites=$(grep -c '^site ' "$work/kill.look")
	[ "$sites" -gt 0 ] || fail "no call site was recorded"
	expect kill placed "$sites of $sites"
	echo "settled: $(value kill counted) calls, none missing"
}

kills=20
[ -z "${TFSHIM_LONG-}" ] || kills=200
done=0
kept=0
whole=0
worst=0
seed=${TFSHIM_SEED-$$}
echo "seed $seed"
# shellcheck disable=SC2013 # words are what is wanted
for delay in $(awk -v seed="$seed" -v count=$kills 'BEGIN { srand(seed)
	for (i = 0; i < count; i++) print int(rand() * rand() * 400) }'); do
	options=record=all:limit=64m
	[ $((done % 3)) != 2 ] || options=record=windows
	rm -f "$work/kill.tfs" "$work/kill.count"
	if [ $((done % 4)) = 3 ]; then
		watched kill "$options" "$programs/shim_killed" "$work/kill.count" "$delay"
	else
		kept kill "$options" "$programs/shim_killed" "$work/kill.count" "$delay"
	fi
	done=$((done + 1))
	[ "$(cat "$work/kill.status")" = 137 ] || {
		fail "not killed: $(cat "$work/kill.status")"
		cat "$work/kill.err"
		continue
	}
	look kill
	[ "$failed" = 0 ] || break
	[ $((done % 4)) != 0 ] || continue
	kept=$((kept + 1))
	all_there
done
settled
[ $kept -ge $((kills / 2)) ] || fail "only $kept recordings were kept by tfshim run"
[ $whole -ge $((kills / 4)) ] || fail "only $whole recordings hold every call"
echo "$done kills, $kept recordings kept, $whole with every call; at most $worst calls missing"
exit "$failed"
