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
	got=$(sed -n "s/^$2 \([a-z]*\) .*/\1/p" "$out/$1/trainer.verdicts")
	[ "$got" = "$3" ] || fail "$1: $2 has '$got', not $3"
}

judge both 0 8000 one 5000 0 two 3000 0
verdict both one won
verdict both two won

# The best of those that won, and not one whose interval reaches down to zero.
judge apart 0 -100000 one 5000 0 two 3000 0 wild 60000 70000
grep -q "together: .* only the best of them stays on" "$out/apart/said" || fail "apart: not said"
verdict apart one won
verdict apart two lost
verdict apart wild lost

# A rank's recording that is left over from an earlier run.
judge old 60 8000 one 5000 0 two 3000 0
grep -q "no verdict: rank 0's recording is of an earlier run than rank 1's" "$out/old/said" ||
	fail "old: not said"
[ ! -e "$out/old/trainer.verdicts" ] || fail "old: a verdict over two runs"
exit "$failed"
