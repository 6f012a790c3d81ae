#!/bin/sh
# SPDX-License-Identifier: MIT
# Exact rewrites change no bit: after 100 steps every trainer has the weights that it has without
# the library, whatever the mode of each rewrite that calls itself exact.
#	rewrites_weights.sh LIBRARY LEDGER SOURCE DIGITS TRAINER...   (TFSHIM_LONG=1: after 200, each
#	mode alone, and on the hostile device)
# A trainer named wide is asked for in its three styles.
set -u
library=$1 ledger=$2 source=$3 digits=$4
shift 4
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 done=0 applied=0
long=${TFSHIM_LONG:-0} steps=100
[ "$long" = 1 ] && steps=200
first=${ledger%/*}/stacks_first.so
options=report=0:quiet=1:search_ms=100000:window=5:staging_cores=0:staging_min=1
# shellcheck disable=SC2046
exact=$(grep -l TFS_CLASS_EXACT $(ls "$source"/shim/rewrites/*/*.c) | xargs sed -n 's/.*\.name = "\(.*\)".*/\1/p')

fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# train DUMP ENVIRONMENT: runs $program $arguments
train() {
	# shellcheck disable=SC2086
	env TFSIM_MEMORY=3g $2 timeout 300 "$program" $arguments --steps "$steps" --deterministic --quiet \
		--dump "$out/$1" >"$out/$1.out" 2>&1 || fail "$program $arguments with $2: $(tail -n 3 "$out/$1.out")"
	done=$((done + 1))
}

# bites: a rewrite that changes a byte (a mutant) is found out. In the modelled time of a device to
# which copies on the host cost nothing, so that it never finds itself the slower way.
bites() {
	modelled="TFSIM_PROFILE=a100 TFSIM_PACE=0"
	train honest "$modelled"
	train under "$modelled LD_PRELOAD=${library%/*}/libtfshim_mutant.so:$first:${ledger%/*}/modelled_clock.so \
TFSHIM_OUTPUT=$out/run TFSHIM_REWRITE=pinned-staging TFSHIM_OPTIONS=$options:record=none:measure=0:naive=64"
	"$ledger" "$out/run.tfs" | grep -q "^pinned-staging applied [1-9]" || fail "$program: the mutant did nothing"
	! cmp -s "$out/under" "$out/honest" || fail "$program: a rewrite that changes a byte goes unnoticed"
	rm -f "$out/run.tfs"
}

# compare MODES SEED. Without a seed at the pace of a device and always on, since staging finds else
# that it gains nothing and keeps out; but only the first of the short run.
compare() {
	if [ "$2" = 0 ] && { [ "$long" = 1 ] || [ "$done" -le 2 ]; }; then
		pace=1 measure=0
	else
		pace=0 measure=200
	fi
	rm -f "$out/under" "$out/run.tfs"
	train under "LD_PRELOAD=$library:$first TFSHIM_OUTPUT=$out/run TFSHIM_REWRITE=$1 TFSIM_HOSTILE=$2 TFSIM_PACE=$pace \
TFSHIM_OPTIONS=$options:measure=$measure"
	cmp -s "$out/under" "$out/plain" || fail "$program $arguments: other weights with $1, seed $2"
	took=$("$ledger" "$out/run.tfs" | awk '$2 == "applied" && $1 != "cudnn-search" && $3 > 0 { sum++ } END { print sum + 0 }')
	applied=$((applied + took))
}

modes() { # those to try: a slice unless it is the long run
	echo exact
	[ "$long" = 1 ] || return 0
	echo off
	echo report,cudnn-search=off
	for one in $exact; do
		echo "$one"
		echo "$one=shadow"
	done
}

seeds=0
[ "$long" = 1 ] && seeds="0 1 2 3 4 5"
for program; do
	case $program in
	*wide) variants="naive rewritable tuned" ;;
	*) variants=small ;;
	esac
	for variant in $variants; do
		case $program in
		*wide) arguments="--size tiny --style $variant" ;;
		*) arguments="--data $digits" ;;
		esac
		for seed in $seeds; do
			# A trainer that searches algorithms for itself finds others on another device.
			rm -f "$out/plain"
			train plain "TFSIM_HOSTILE=$seed TFSIM_PACE=0"
			[ "$done" -gt 1 ] || bites
			for mode in $(modes); do
				compare "$mode" "$seed"
			done
		done
	done
done
# Shadow and apply both count; were nothing applied, nothing would be shown.
[ "$applied" -gt 0 ] || fail "no rewrite took part"
echo "$done runs, rewrites ($(echo $exact)) took part $applied times, $failed failures"
[ "$failed" = 0 ]
