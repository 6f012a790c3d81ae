#!/bin/sh
# SPDX-License-Identifier: MIT
# Rewrites measured over the slowest of several ranks, and the next run that goes by the verdict, on
# the simulated device and in its time: ranks.sh LIBRARY TFSHIM PROGRAMS
set -u

library=$(realpath "$1")
tfshim=$(realpath "$2")
programs=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

rewrites=off,pinned-staging
tools="$programs/../tools/stacks_first.so:$programs/../tools/modelled_clock.so"
rank() { # FOLDER STEPS OPTIONS RANK
	rm -f "$out/$1/rewrite_steps-r$4.tfs"
	preload=$library
	case $3 in *naive=*) preload=${library%/*}/libtfshim_mutant.so ;; esac
	env RANK="$4" WORLD_SIZE=2 TFSIM_PACE=0 TFSHIM_OUTPUT="$out/$1/%e-r%r" TFSHIM_REWRITE="$rewrites" \
		TFSHIM_OPTIONS="report=0:quiet=1:window=5:window_later=0:staging_cores=0:staging_min=65537$3" \
		LD_PRELOAD="$preload:$tools" timeout 100 "$programs/rewrite_steps" "$2" 1024 >"$out/said$4" 2>&1
}

# train FOLDER STEPS [OPTIONS OF RANK 1]: two ranks at the same time, which on a loaded machine is so
# in their own time only. It lies ahead, so that nobody's patience ends before.
train() {
	MODELLED_EPOCH=$(($(date +%s) + 3600))
	export MODELLED_EPOCH
	rank "$1" "$2" "" 0 &
	rank "$1" "$2" "${3:-}" 1 || fail "$1: rank 1 noticed: $(tail -n 3 "$out/said1")"
	wait $! || fail "$1: rank 0 noticed: $(tail -n 3 "$out/said0")"
}

# state FOLDER PATTERN: of both ranks
state() {
	for rank in 0 1; do
		got=$("$programs/../tools/ledger" "$out/$1/rewrite_steps-r$rank.tfs" |
			sed -n 's/^pinned-staging state //p' | tail -n 1)
		# shellcheck disable=SC2254 # a pattern
		case $got in
		$2) ;;
		*) fail "$1: the state in rank $rank is '$got'" ;;
		esac
	done
}

# says FOLDER PATTERN: the report on both ranks
says() {
	"$tfshim" report "$out/$1" >"$out/report" 2>&1 || fail "$1: report ends with $?"
	sed -n '/^JOB/,$p' "$out/report"
	grep -qE -- "$2" "$out/report" || fail "$1: the report does not say '$2'"
}

pairs="A/B over [0-9]+ pairs of blocks of steps"
verdict="per step of the slowest rank"
train both 700
state both "off *measured over 2 ranks*"
says both "pinned-staging: $pairs: gain [0-9.]+ ms .* $verdict; faster, stays on"
train both 160
state both "apply *from an earlier run: *, on the slowest of 2 ranks: faster"
says both "TFS101"

# What one rank gains is lost when the other is slower by it.
train other 700 :naive=32
says other "pinned-staging: $pairs: gain -[0-9.]+ ms .* $verdict; slower, switched off"
train other 160
state other "lost *from an earlier run: *, on the slowest of 2 ranks: slower, switched off"

# What is not decided is off, and goes on in the next run.
train short 100
state short "off *measured over 2 ranks*"
says short "pinned-staging: A/B over [1-7] pairs? of blocks of steps: undecided"
train short 700
says short "pinned-staging: $pairs: .* $verdict; faster, stays on"
train gone 240
rm "$out/gone/rewrite_steps-r1.tfs"
says gone "no verdict: rank 1 has no recording in this folder"

# Many rewrites: each question gets eight pairs before one gets more.
rewrites=all
train many 1400
says many "pinned-staging: .* $verdict; "
rewrites=off,pinned-staging

# A file that was cut off, one that is none, one for another number of ranks: as without it.
head="# tfshim verdicts 2:"
for text in "$head\npinned-staging slower -1 -2 -3 2 1 8 0 0" "\\377\\001 %%s %%n\\n" "$head\npinned-staging slower -1 -2 -3 8 1 8 0 0\n"; do
	mkdir -p "$out/hostile"
	# shellcheck disable=SC2059 # escapes
	printf "$text" >"$out/hostile/rewrite_steps.verdicts"
	train hostile 160
	state hostile "off *measured over 2 ranks*"
done
rm "$out/hostile/rewrite_steps.verdicts"
mkfifo "$out/hostile/rewrite_steps.verdicts"
train hostile 160
state hostile "off *measured over 2 ranks*"
exit "$failed"
