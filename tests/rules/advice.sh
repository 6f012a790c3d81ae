#!/bin/sh
# SPDX-License-Identifier: MIT
# Advice, followed to the letter, changes no result and does away with the finding:
# advice.sh LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAMS ID SEEDS [TRAP...]
#
# The clean twin of a rule's program does what the report advises for it; of a trap whose wait is
# needed, -advice does without it as the report says, and -wrong only leaves it out. Each is run bare
# on a device that is as late as it may be; twins must end with the same bits as the program itself
# (with another algorithm, TFS601, without a bias that is taken away again, TFS605, or with sums in
# another order, TFS306, no number may differ by more than 1e-5 of the largest), and what is wrong must not with at least one of the seeds,
# or this would prove nothing. Then the twin is watched: see advice.py.
set -u

here=$(dirname "$0")
library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
programs=$4
id=$5
seeds=$6
shift 6
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
export LD_LIBRARY_PATH="$simulated" TFSIM_PROFILE=slow TFSIM_PACE=0
failed=0 compared=0

fail() {
	echo "$*"
	failed=1
}

# bare PROGRAM SEED: what it ends with
bare() {
	rm -f "$folder/$1.values"
	RULE_VALUES="$folder/$1.values" TFSIM_HOSTILE=$2 timeout 60 "$programs/$1" >"$folder/out" 2>&1 ||
		fail "$1 with seed $2 ended with $?: $(tail -n 3 "$folder/out")"
	tail -n 1 "$folder/out" | grep -E '^all [0-9a-f]{16}$' || echo "none: $(tail -n 3 "$folder/out")"
}

# near PROGRAM TWIN: what they learned, where rounding may differ
near() {
	case $id in 306 | 601 | 605) ;; *) return 1 ;; esac &&
		python3 "$here/advice.py" near 1e-5 "$folder/$1.values" "$folder/$2.values"
}

# same PROGRAM TWIN WRONG: WRONG may be ''
same() {
	bitten=0
	for seed in $seeds; do
		first=$(bare "$1" "$seed")
		[ "${first#all }" != "$first" ] || fail "$1 with seed $seed told nothing: $first"
		again=$(bare "$2" "$seed")
		[ "$first" = "$again" ] || near "$1" "$2" ||
			fail "$2 with seed $seed: $again, not $first"
		compared=$((compared + 1))
		[ -z "$3" ] || [ "$(bare "$3" "$seed")" = "$first" ] || bitten=$((bitten + 1))
		# The other seeds are CI's, and the long run's, but for what goes wrong with some seeds alone.
		[ -z "${CI-}" ] && [ -z "${TFSHIM_LONG-}" ] && { [ -z "$3" ] || [ "$bitten" -gt 0 ]; } && break
	done
	[ -z "$3" ] || [ "$bitten" -gt 0 ] || fail "$3 does nothing wrong with any seed"
	[ -z "$3" ] || echo "$3: wrong with $bitten seeds"
}

watch() {
	rewrites=off
	case $id in 601 | 610) rewrites=report ;; esac
	TFSHIM_OUTPUT="$folder/$1" TFSHIM_REWRITE=$rewrites TFSHIM_OPTIONS=report=0:search_ms=100000 \
		LD_PRELOAD="$library:$programs/../tools/stacks_first.so:$programs/../tools/modelled_clock.so" \
		timeout 60 "$programs/$1" >"$folder/out" 2>&1 ||
		fail "$1 ended with $?: $(tail -n 3 "$folder/out")"
	"$tfshim" report --quiet "$folder/$1.tfs" || failed=1
}

# follow PROGRAM TWIN WRONG
follow() {
	same "$1" "$2" "$3"
	watch "$1"
	watch "$2"
	python3 "$here/advice.py" "TFS$id" "$folder/$1.json" "$folder/$2.json" || failed=1
}

follow "rule_${id}_bad" "rule_${id}_clean" ''
for trap; do
	name=rule_${id}_trap_$trap
	follow "$name" "$name-advice" "$name-wrong"
done
echo "$compared results compared"
exit "$failed"
