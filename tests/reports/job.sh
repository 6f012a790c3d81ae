#!/bin/sh
# SPDX-License-Identifier: MIT
# What the recordings of a job's ranks say together about rewrites: job.sh TFSHIM JOB
set -u

tfshim=$(realpath "$1") job=$(realpath "$2")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# judge FOLDER SECONDS ...: two ranks, the second of which began later
judge() {
	folder=$1 later=$2
	shift 2
	mkdir -p "$out/$folder"
	"$job" "$out/$folder/r0.tfs" 0 0 "$@" || fail "$folder: no recording"
	"$job" "$out/$folder/r1.tfs" 1 "$later" "$@" || fail "$folder: no recording"
	"$tfshim" report "$out/$folder" >"$out/$folder/said" 2>&1 || fail "$folder: report ends with $?"
	sed -n '/^JOB/,$p' "$out/$folder/said"
}

verdict() { # FOLDER REWRITE VERDICT
	got=$(sed -n "s/^$2 \([a-z-]*\) .*/\1/p" "$out/$1/trainer.verdicts")
	[ "$got" = "$3" ] || fail "$1: $2 has '$got', not $3"
}

# The best of those that won; the next run asks about the other beside it.
judge both 0 one 5000 0 two 3000 0
verdict both one faster
verdict both two undecided
grep -q "two: .* faster by itself; the next run measures it together with one" "$out/both/said" || fail "both: not said"

# One that is slower, and one that one pair of eight speaks against.
judge apart 0 one 5000 0 slow -3000 0 wild 60000 70000
verdict apart one faster
verdict apart slow slower
verdict apart wild undecided
grep -q "wild: A/B over 8 pairs of blocks of steps: .*; undecided (needs about 160 more steps), off" "$out/apart/said" || fail "apart: not said"

# The same again: the question goes on, by sixteen pairs.
judge apart 0 wild 60000 0
verdict apart one faster
verdict apart wild faster
grep -q "wild: A/B over 16 pairs of blocks of steps: .*; faster" "$out/apart/said" || fail "apart: it does not go on"

# What is no file of verdicts stays as it is.
mkdir -p "$out/planted"
echo mine >"$out/planted/mine"
ln -s mine "$out/planted/trainer.verdicts"
"$job" "$out/planted/r0.tfs" 0 0 one 5000 0
"$job" "$out/planted/r1.tfs" 1 0 one 5000 0
"$tfshim" report "$out/planted" >"$out/planted/said" 2>&1
[ $? = 2 ] || fail "planted: a link is written to"
grep -q "cannot write .*trainer.verdicts" "$out/planted/said" || fail "planted: not said"
[ "$(cat "$out/planted/mine")" = mine ] || fail "planted: a link was followed"

# A rank's recording that is left over from an earlier run.
judge old 60 one 5000 0 two 3000 0
grep -q "no verdict: the recording of rank 0 is from an earlier run than that of rank 1" "$out/old/said" ||
	fail "old: not said"
[ ! -e "$out/old/trainer.verdicts" ] || fail "old: a verdict over two runs"
exit "$failed"
