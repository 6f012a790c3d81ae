# SPDX-License-Identifier: MIT
# For the tests of the rewrites, which say first: library=... programs=...
# shellcheck shell=sh disable=SC2034,SC2154
set -u
# shellcheck source=tests/rewrites/rewrite_base.sh
. "${0%/*}/rewrite_base.sh"

# run NAME ENVIRONMENT PROGRAM ARGUMENTS: under the library, recording to $out/NAME.tfs; under
# $watched, where a wrong rewrite would make it fault
watched=
run() {
	name=$1 environment=$2
	shift 2
	forget "$name"
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/$name" TFSHIM_OPTIONS="record=none:report=0:quiet=1:staging_cores=0:staging_min=65537:search_ms=1000000:$options" \
		TFSHIM_DECISIONS="$out/$name.decisions" $environment LD_PRELOAD="$(with "$options")" \
		timeout 100 $watched "$@" >"$out/$name.out" 2>&1
}

applies() { # NAME REWRITE
	[ "$(ledger "$1" "$2 applied")" -gt 0 ] || fail "$1: $2 was not applied"
}

checker=rewrite_checks
refuses() { # REWRITE CHECK CASE OPTIONS ENVIRONMENT
	options=$4
	case $hardware$5 in 1*TFSIM_*) return 0 ;; esac
	done=$((done + 1))
	rm -f "$out"/*.decisions
	run "$2" "$5" "$programs/$checker" "$3" || fail "$2: the program noticed: $(tail -n 3 "$out/$2.out")"
	[ "$(ledger "$2" "$1 $2")" -gt 0 ] || fail "$1 did not refuse by '$2' in case $3"
}

# childs NAME: calls of a forked child's that the parent's recording has, if only without a name
childs() {
	echo $(($(ledger "$1" "calls cudaPeekAtLastError") + $(ledger "$1" "calls undefined")))
}

# What a program sets for itself comes late where tfshim is there first.
device_of() { # PROGRAM
	case $1 in
	rewrite_devices) echo TFSIM_DEVICES=2 ;;
	rewrite_oom) echo TFSIM_MEMORY=64m ;;
	esac
}

# seeded SEED PROGRAM [TFSHIM]: with TFSHIM in memory that children share, as `tfshim run` gives it
seeded() {
	rm -f "$out"/*.decisions
	run "$2" "TFSIM_HOSTILE=$1 TFSIM_PACE=0 $(device_of "$2")" \
		${3:+"$3" run --quiet -- env LD_PRELOAD="$(with "$options")"} "$programs/$2"
}

# The patience of a search that waits for a device on busy cores until it is idle.
patient=search_ms=10000000

# With each seed, and each time the rewrite takes part; with one in twenty at most it may have measured
# that it gains nothing on that device.
passes() { # PROGRAM REWRITE [TFSHIM]
	options=$patient gainless=0
	for seed in $(seq 1 "$seeds"); do
		seeded "$seed" "$1" "${3:-}" || fail "$1 with seed $seed: $(tail -n 3 "$out/$1.out")"
		[ "$(childs "$1")" = 0 ] ||
			fail "$1: a forked child's calls are in the parent's recording"
		if [ "$(ledger "$1" "$2 gain")" -gt 0 ]; then
			gainless=$((gainless + 1))
		else
			applies "$1" "$2"
		fi
		done=$((done + 1))
	done
	[ $((gainless * 20)) -le "$seeds" ] || fail "$1: nothing to gain with $gainless of $seeds seeds"
	echo "$1: $seeds hostile seeds, nothing to gain with $gainless"
}

counterexample() { # PROGRAM REWRITE NAIVE [TFSHIM]
	passes "$1" "$2" "${4:-}"
	[ "$hardware" = 0 ] || return 0
	bitten=0
	options=naive=$3
	for seed in 1 2 3 4 5; do
		seeded "$seed" "$1" "${4:-}"
		status=$?
		if [ "$status" = 0 ]; then
			[ "$(childs "$1")" = 0 ] || bitten=$((bitten + 1))
		elif noticed "$1 with the naive rewrite and seed $seed" "$status" "$out/$1.out"; then
			bitten=$((bitten + 1))
		fi
		enough "$bitten" && break
	done
	[ "$bitten" -gt 0 ] || fail "$1 passes with the naive rewrite as well"
	echo "$1: the naive rewrite fails with $bitten of $seed seeds"
}
