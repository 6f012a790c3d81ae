# SPDX-License-Identifier: MIT
# What the tests of rewrites share; sourced. Set before: library, programs, rewrite.
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DECISIONS LD_PRELOAD
# shellcheck source=tests/rewrites/rewrite_base.sh
. "${0%/*}/rewrite_base.sh"

# run NAME OPTIONS ENVIRONMENT PROGRAM ARGUMENTS: under the library, recording to $out/NAME.tfs
run() {
	name=$1 options=$2 environment=$3
	shift 3
	forget "$name"
	done=$((done + 1))
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/$name" TFSHIM_REWRITE="off,$rewrite" \
		TFSHIM_OPTIONS="record=none:report=0:quiet=1:measure=0:$options" \
		$environment LD_PRELOAD="$(with "$options")" timeout 300 "$@" >"$out/$name.out" 2>&1
}

# applied NAME LEAST
applied() {
	[ "$(ledger "$1" "${rewrite%%[=,]*} applied")" -ge "$2" ] || {
		fail "$1: ${rewrite%%[=,]*} was applied $(ledger "$1" "${rewrite%%[=,]*} applied") times, not $2"
		"$programs/../tools/ledger" "$out/$1.tfs" 2>&1 | grep -v "^calls"
		cat "$out/$1.out"
	}
}

# holds CASE LEAST OPTIONS ENVIRONMENT PROGRAM ARGUMENTS: passes, and the rewrite took part
holds() {
	case=$1 least=$2 options_=$3 environment_=$4
	shift 4
	run "$case" "$options_" "$environment_" "$@" || fail "$case: $(tail -n 3 "$out/$case.out")"
	applied "$case" "$least"
}

# counterexample CASE LEAST NAIVE OPTIONS ENVIRONMENT PROGRAM ARGUMENTS: with every seed of the
# hostile device the case passes, and the rewrite takes part so often; with a naive rewrite its
# checks fail.
counterexample() {
	case=$1 least=$2 naive=$3 options_=$4 environment_=$5
	shift 5
	for seed in $(seq 1 "$seeds"); do
		run "$case" "$options_" "$environment_ TFSIM_PACE=0 TFSIM_HOSTILE=$seed" "$@" ||
			fail "$case with seed $seed: $(tail -n 3 "$out/$case.out")"
		applied "$case" "$least"
	done
	[ "$hardware" = 0 ] || return 0
	bitten=0
	for seed in 1 2 3 4 5; do
		run "$case-naive" "$options_:naive=$naive" \
			"$environment_ TFSIM_PACE=0 TFSIM_HOSTILE=$seed" "$@"
		noticed "$case with the naive rewrite and seed $seed" $? "$out/$case-naive.out" &&
			bitten=$((bitten + 1))
		enough "$bitten" && break
	done
	[ "$bitten" -gt 0 ] || fail "$case passes with the naive rewrite as well"
	echo "$case: $seeds hostile seeds; the naive rewrite fails with $bitten of $seed"
}

# refuses CHECK COUNT OPTIONS ENVIRONMENT PROGRAM ARGUMENTS: passes, and the rewrite refuses by
# that name, so often
refuses() {
	check=$1 count=$2 options_=$3 environment_=$4
	shift 4
	case $hardware$environment_ in 1*TFSIM_*) return 0 ;; esac
	run "$check" "$options_" "$environment_" "$@" || fail "$check: $(tail -n 3 "$out/$check.out")"
	got=$(ledger "$check" "${rewrite%%[=,]*} $check")
	[ "$got" = "$count" ] ||
		fail "${rewrite%%[=,]*} refused by '$check' $got times, not $count, in $*"
}

# names CASE CAUSE: what was refused last was refused because of that
names() {
	[ "$hardware" = 0 ] || return 0
	told=$("$programs/../tools/ledger" "$out/$check.tfs" | grep "^${rewrite%%[=,]*} \(state\|caused\) " | tail -n 2)
	case $told in
	*": $2
${rewrite%%[=,]*} caused by $check: $2") ;;
	*) fail "$1: the cause is not '$2': $told" ;;
	esac
}

# in_shadow DIFFER LEAST OPTIONS PROGRAM ARGUMENTS: passes with the program's own calls; the rewrite
# is tried out beside them, so often, and so many tries, 0 or 1, differ: with that it ends
in_shadow() {
	differ=$1 least_=$2 options__=$3
	shift 3
	rewrite=$rewrite=shadow
	holds "shadow-$differ" "$least_" "$options__" "" "$@"
	rewrite=${rewrite%=shadow}
	got=$(ledger "shadow-$differ" "$rewrite shadow-differs")
	[ "$got" = "$differ" ] || fail "$got tries in shadow differ, not $differ, in $*"
}

# drops NAIVE PROGRAM ARGUMENTS: passes, since what goes wrong is found while it is tried out
drops() {
	naive=$1
	shift
	holds dropped 0 "naive=$naive" "" "$@"
	[ "$(ledger dropped "$rewrite shadow-differs")" = 1 ] || fail "evidence against it is not found in $*"
	[ "$(ledger dropped "$rewrite applied")" = 0 ] || fail "it is applied against the evidence in $*"
}

# by_name PROGRAM ARGUMENTS: passes, and the rewrite is on in no set but all
by_name() {
	named=$rewrite
	for set in exact safe; do
		rewrite=$set
		run "set-$set" "" "" "$@" || fail "$set: $(tail -n 3 "$out/set-$set.out")"
		"$programs/../tools/ledger" "$out/set-$set.tfs" | grep -q "^$named state off" || fail "it is on in $set"
	done
	rewrite=$named
}

# measured NAME ARGUMENTS STATE REASON: what churns by these arguments is measured, and this found;
# "unproven" stands for slower, for no measurable difference, for undecided and for what its
# own model keeps off.
# In modelled time, which no other load moves. Set before, for another program or speed of the
# device: churn, scale. What wins and loses in these programs goes by the times of the profile slow.
measured() {
	[ "$hardware$profile" = 0slow ] || return 0
	measure "$@" "TFSIM_SCALE=${scale:-4} TFSIM_PACE=0" "$(with ""):$programs/../tools/modelled_clock.so"
	judge_measured "$@"
}

measure() {
	# shellcheck disable=SC2086
	run "$1" "measure=4000:record=windows:window=5${windows:-}" "$5" env LD_PRELOAD="$6" \
		"$programs/${churn:-rewrite_churn}" $2 && passed=1 || passed=0
	state=$("$programs/../tools/ledger" "$out/$1.tfs" | sed -n "s/^${rewrite%%[=,]*} state //p" | tail -n 1)
	case $3-$passed$state in
	"$3-1$3 "*"$4"*) return 0 ;;
	"unproven-1lost "* | "unproven-1off "*) return 0 ;;
	esac
	passed=0
	return 1
}

judge_measured() {
	[ "$passed" = 1 ] || fail "$1: $state, not $3 ... $4: $(tail -n 3 "$out/$1.out")"
	applied "$1" "${applies:-50}"
}

# predicted NAME LEAST MOST: what was measured last was predicted to gain so much, in microseconds
predicted() {
	[ "$hardware$profile" = 0slow ] || return 0
	echo "$state" | awk -v least="$2" -v most="$3" '{ exit !($2 >= least && $2 <= most) }' ||
		fail "$1: $state: the prediction is not from $2 to $3"
}

# weights NAME OPTIONS ENVIRONMENT: trains, dumps to $out/NAME. Set before: trainer, digits.
weights() {
	run "train-$1" "window=5:record=windows:$2" "$3 TFSIM_PACE=0" "$trainer" --data "$digits" \
		--steps "$train_steps" --batch 32 --deterministic --quiet \
		--dump "$out/$1" || fail "$1: $(tail -n 3 "$out/train-$1.out")"
}

# same_weights NAME NAME: bit for bit
same_weights() {
	cmp -s "$out/$1" "$out/$2" || fail "other weights: $2 and $1 differ"
}

# same_bits OPTIONS: trains the same with the rewrite, by these options, as without it
same_bits() {
	trained=$rewrite
	rewrite=off
	weights without "" ""
	rewrite=$trained
	weights with "$1" ""
	weights in-turn measure=200:alternate=2 ""
	weights hostile "$1" TFSIM_HOSTILE=3
	for way in with in-turn hostile; do
		same_weights without "$way"
	done
}

finish() {
	echo "$done runs, $failed failures"
	[ "$failed" = 0 ]
}
