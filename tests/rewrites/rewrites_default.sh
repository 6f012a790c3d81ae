#!/bin/sh
# SPDX-License-Identifier: MIT
# The counterexamples as a user runs them, with nothing set: safe rewrites, windows, measuring,
# decisions. None may notice; and with programs that go on for long enough, rewrites do act.
#	rewrites_default.sh LIBRARY PROGRAMS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$(realpath "$1") programs=$2
# shellcheck source=tests/rewrites/rewrite_base.sh
. "${0%/*}/rewrite_base.sh"
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DECISIONS LD_PRELOAD
seeds=$few
acted=0

# one SETTINGS PROGRAM ARGUMENTS: passes with every seed
one() {
	settings=$1
	shift
	for seed in $(seq 1 "$seeds"); do
		folder=$out/$seed
		rm -rf "$folder"
		mkdir "$folder"
		done=$((done + 1))
		# shellcheck disable=SC2086
		(cd "$folder" && env $settings TFSIM_PACE=0 TFSIM_HOSTILE="$seed" LD_PRELOAD="$library" \
			timeout 100 "$programs/$@" >"$out/said" 2>&1) ||
			fail "$* with seed $seed: $(tail -n 3 "$out/said")"
		for recording in "$folder"/tfshim-out/*.tfs; do
			[ -f "$recording" ] || continue
			[ "$("$programs/../tools/ledger" "$recording" | awk '$2 == "applied" { sum += $3 } END { print sum + 0 }')" = 0 ] ||
				acted=$((acted + 1))
		done
	done
}

for program in rewrite_stack rewrite_capture rewrite_beside rewrite_reset rewrite_lazy rewrite_oom \
	rewrite_again rewrite_threads rewrite_fork rewrite_microbatch; do
	one "" $program
done
one TFSIM_MEMORY=256m rewrite_pool_driver
one TFSIM_DEVICES=2 rewrite_devices
one TFSIM_DEVICES=2 rewrite_queries devices
one "" rewrite_queries errors
for case in pinned-source hidden-flag order; do
	one "" rewrite_narrowing $case
done
for case in late-stream nothing-stale pinned-result host-function events; do
	one "" rewrite_deferred $case
done
for case in free-waits two-streams nothing-stale whole-blocks misuse; do
	one "" rewrite_pool $case
done
for case in sized-by-free halves; do
	one TFSIM_MEMORY=32m rewrite_pool $case
	one TFSIM_MEMORY=256m rewrite_reserve $case
done
for case in microbatch padded reads-output; do
	one "" rewrite_memset $case
done

few=$acted acted=0
one "" rewrite_killed
one "" rewrite_steps 300 1024
[ "$acted" -ge "$seeds" ] || fail "nothing acted in $acted runs of programs that go on for long"
# One that remembers a wrong answer is found out in this way, too.
for seed in 1 2; do
	(cd "$out" && env TFSHIM_OPTIONS=naive=32768 TFSIM_PACE=0 TFSIM_HOSTILE=$seed TFSHIM_OUTPUT="$out/wrong-$seed" \
		LD_PRELOAD="$(with naive=)" "$programs/rewrite_killed" >"$out/said" 2>&1) && fail "a wrong answer goes unnoticed"
	grep -q 'rewrite_killed.c:.* memcmp' "$out/said" || fail "not found out by its check: $(tail -n 3 "$out/said")"
done
echo "$done runs with nothing set, rewrites acted in $((few + acted)), $failed failures"
[ "$failed" = 0 ]
