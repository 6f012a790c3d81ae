#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of pinned-staging that more than one thread, or stream, can see: what is read when,
# what has arrived when the call returns, that it returns, and whose a fault is. As rewrites are by
# default: measured, with windows. Each case as the device is with each seed, and in the modelled
# time of an a100, in which copies on the host cost nothing, so that staging is never too slow.
#	rewrite_staging.sh LIBRARY PROGRAMS_DIR   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2
. "${0%/*}/rewrites_common.sh"
seeds=$few
options=window=5

# once CASE PROGRAM ENVIRONMENT [MORE LIBRARIES]: the case passes, and staging takes part
once() {
	case=$1
	done=$((done + 1))
	run "$case" "$3" env LD_PRELOAD="$(with "$options")${4:-}" "$2" "$case" ||
		fail "$case with $3: $(tail -n 3 "$out/$case.out")"
	applied=$(ledger "$case" "pinned-staging applied")
	[ "$applied" -gt 0 ] || fail "$case with $3: staging took no part"
	sum=$((sum + applied))
}

# late CASE: how many of its 20 ends were late, -1 if it does not say
late() {
	sed -n 's/^late ends: \([0-9]*\) of 20$/\1/p' "$out/$1.out" | grep . || echo -1
}

# The ends of copies that were staged are never late.
check_late() {
	late=$(late "$1")
	[ "$late" -ge 0 ] || fail "$1: it does not say how many ends were late"
	[ "$applied" -le 20 ] || fail "$1: $applied copies staged of 20"
	[ $((late + applied)) -le 20 ] ||
		fail "$1: $late ends of 20 were late, $applied copies staged"
}

# cases PROGRAM CASE...: with each seed
cases() {
	program=$programs/$1
	shift
	for one in "$@"; do
		sum=0
		for seed in $(seq 1 "$seeds"); do
			once "$one" "$program" "TFSIM_HOSTILE=$seed TFSIM_PACE=0"
			case $one in stale-*) check_late "$one" ;; esac
			# There the driver itself waits with longer ones.
			[ "$hardware" = 0 ] && [ "$one" != gated-long ] || continue
			once "$one" "$program" "TFSIM_HOSTILE=$seed TFSIM_PACE=0 TFSIM_PROFILE=a100" \
				":$programs/../tools/modelled_clock.so"
			case $one in stale-*) check_late "$one" ;; esac
		done
		echo "$one: $seeds seeds, $sum copies staged"
	done
}

# bites NAIVE PROGRAM CASE: a mutant that breaks the promise fails with some seed
bites() {
	[ "$hardware" = 0 ] || return 0
	bitten=0
	options=window=5:naive=$1
	for seed in 1 2 3 4 5; do
		done=$((done + 1))
		run "$3" "TFSIM_HOSTILE=$seed TFSIM_PACE=0" "$programs/$2" "$3"
		noticed "$3 with the mutant $1 and seed $seed" $? "$out/$3.out" || continue
		bitten=$((bitten + 1))
		break
	done
	options=window=5
	[ "$bitten" -gt 0 ] || fail "$3 passes with the mutant $1 as well"
	echo "$3: the mutant $1 fails with seed $seed"
}

# late_bites CASE: its mutant returns early, and passes but for its late ends
late_bites() {
	[ "$hardware" = 0 ] || return 0
	bitten=0
	options=window=5:naive=524288
	for seed in 1 2 3 4 5; do
		done=$((done + 1))
		run "$1" "TFSIM_HOSTILE=$seed TFSIM_PACE=0 TFSIM_PROFILE=a100" \
			env LD_PRELOAD="$(with "$options"):$programs/../tools/modelled_clock.so" \
			"$programs/rewrite_staging" "$1" || fail "$1: $(tail -n 3 "$out/$1.out")"
		applied=$(ledger "$1" "pinned-staging applied")
		[ $(($(late "$1") + applied)) -le 20 ] || bitten=$((bitten + 1))
	done
	options=window=5
	[ "$bitten" -gt 0 ] || fail "$1: no end is late with the mutant 524288 either"
	echo "$1: the mutant 524288 is late with $bitten of 5 seeds"
}

cases rewrite_staging filled gated gated-long beside-gate edges \
	stale-short stale-middle stale-long stale-per-thread stale-thread-reads
cases rewrite_staging_faults barred write-barred unmapped target-unmapped truncated jumped
# A ring that a jump left behind would be missing afterwards.
[ "$(ledger jumped "pinned-staging ring-free")" = 0 ] || fail "a ring was not given back"
# Whoever left a call is recorded all the same: 6 threads' 48 whole copies, and 121 of the first one.
copies=$("$programs/../tools/ledger" "$out/jumped.tfs" | awk '/^calls cudaMemcpy /{ sum += $3 } END { print sum + 0 }')
[ "$copies" = 169 ] || fail "$copies copies recorded of 169 beside those that were left"
[ "$(ledger barred "pinned-staging no-fault")" -gt 0 ] || fail "no copy met a fault half way"
bites 524288 rewrite_staging stale-middle
bites 524288 rewrite_staging stale-per-thread
late_bites stale-short
watched=$programs/rewrite_watched
bites 4194304 rewrite_staging_faults barred
bites 4194304 rewrite_staging_faults write-barred
bites 4194304 rewrite_staging_faults truncated
watched=
# It hangs, for as long as it may.
[ "$seeds" -lt 10 ] || bites 1048576 rewrite_staging gated
sum=0 options=$options:measure=0
once many-streams "$programs/rewrite_staging" "TFSIM_PACE=0 TFSIM_PROFILE=a100" \
	":$programs/../tools/modelled_clock.so"
[ "$applied" -gt 2000 ] || fail "many-streams: $applied copies staged of 4200 streams"
echo "many-streams: $applied copies staged"

echo "$done runs, $failed failures"
[ "$failed" = 0 ]
