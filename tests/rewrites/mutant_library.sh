#!/bin/sh
# SPDX-License-Identifier: MIT
# What is for tests is in the mutant library only, and the library knows nothing of it: neither the
# options, nor what they would do.	mutant_library.sh LIBRARY PROGRAMS_DIR [LIBRARY...]
set -u
library=$1 programs=$2
shift 2
# shellcheck source=tests/rewrites/rewrite_base.sh
. "${0%/*}/rewrite_base.sh"
mutant=${library%/*}/libtfshim_mutant.so
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DECISIONS LD_PRELOAD

# under LIBRARY OPTIONS PROGRAM ARGUMENTS
under() {
	preload=$1 options=$2
	shift 2
	env TFSHIM_OUTPUT="$out/run" TFSHIM_OPTIONS="record=none:report=0:quiet=1:measure=0:staging_cores=0:staging_min=65537:$options" \
		TFSHIM_REWRITE=off,pinned-staging LD_PRELOAD="$preload" timeout 100 "$@" >"$out/said" 2>&1
}

# keys LIBRARY: those that its help names
keys() {
	under "$1" help=1 "$programs/rewrite_steps" 1 4 || fail "$1: $(cat "$out/said")"
	sed -n 's/^tfshim:   \([a-z_]*\) .*/\1/p' "$out/said" | sort
}

keys "$library" >"$out/keys"
keys "$mutant" >"$out/mutant-keys"
[ "$(wc -l <"$out/keys")" -ge 20 ] || fail "the library's help names few options: $(cat "$out/said")"
[ -z "$(comm -23 "$out/keys" "$out/mutant-keys")" ] || fail "options that the mutant library lacks"
switches=$(comm -13 "$out/keys" "$out/mutant-keys" | tr '\n' ' ')
[ "$switches" = "alternate naive " ] || fail "the mutant library's own options are '$switches'"

# What is loaded, and the names of symbols; debug information has the folder's name, whatever it is.
for one in "$library" "$@"; do
	for key in $switches mutants tfs_mutant_naive; do
		! { strings -d "$one" && nm "$one"; } | grep -w "$key" || fail "$one knows '$key'"
	done
done
for key in $switches; do
	strings -d "$mutant" | grep -qw "$key" || fail "the mutant library does not know '$key'"
	under "$library" "$key=1" "$programs/rewrite_steps" 1 4 || fail "$key: $(cat "$out/said")"
	grep -q "^tfshim: TFSHIM_OPTIONS: unknown option '$key'" "$out/said" || fail "$key is not said to be unknown"
done

# What the mutant does wrong (it reads the source too late) the library does not, whatever it is told.
bitten=0 staged=0
for seed in 1 2 3 4 5; do
	TFSIM_HOSTILE=$seed TFSIM_PACE=0 under "$library" naive=18446744073709551615 "$programs/rewrite_stack" ||
		fail "the library does wrong with seed $seed: $(tail -n 3 "$out/said")"
	[ "$(ledger run "pinned-staging applied")" = 0 ] || staged=$((staged + 1))
	rm -f "$out/run.tfs"
	TFSIM_HOSTILE=$seed TFSIM_PACE=0 under "$mutant" naive=1 "$programs/rewrite_stack"
	noticed "the mutant with seed $seed" $? "$out/said" && bitten=$((bitten + 1))
	rm -f "$out/run.tfs"
done
[ "$staged" -ge 3 ] || fail "it staged with $staged of 5 seeds only"
[ "$bitten" -gt 0 ] || fail "the mutant does nothing wrong"
echo "$(wc -l <"$out/keys") options, $(($# + 1)) libraries, the mutant fails with $bitten of 5 seeds, $failed failures"
[ "$failed" = 0 ]
