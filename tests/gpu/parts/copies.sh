# SPDX-License-Identifier: MIT
# Bandwidth of copies by kind of memory, size, chunk and number of threads; and of the same
# pageable copies under the library.
. "$GPU_HERE/common.sh"

loaders=$(($(nproc) / 2)) rounds=5 most=268435456
[ -z "$GPU_QUICK" ] || { rounds=1 most=1572864; }

# measure SUFFIX "SETTINGS..." ARGUMENT...
measure() {
	suffix=$1 settings=$2
	shift 2
	# shellcheck disable=SC2086
	limited 60 env TFSHIM_OUTPUT="$PWD/copies" $settings "$suite/copies" --rounds "$rounds" --most "$most" "$@" >copies.out 2>&1
	status=$?
	# What was measured before the time was over counts.
	while read -r word name value; do
		[ "$word" != copy ] || put copies "$name$suffix" "$value"
	done <copies.out
	[ "$status" = 0 ] || [ "$(left)" -le 2 ] || put failures "copies$suffix" "FAILED: status $status: $(last_words copies.out)"
	if [ -f copies.tfs ]; then
		ledger copies "copies$suffix" copies.tfs
		rm -f copies.tfs
	fi
}

under="LD_PRELOAD=$shim TFSHIM_REWRITE=pinned-staging"
measure '' TFSHIM_DISABLE=1
measure +staging "$under TFSHIM_OPTIONS=measure=0:record=none:report=0:quiet=1" --only pageable
[ -n "$GPU_QUICK" ] || {
	measure '' TFSHIM_DISABLE=1 --loaders "$loaders"
	measure +staging "$under TFSHIM_OPTIONS=measure=0:record=none:report=0:quiet=1" --only pageable --loaders "$loaders"
}
clocks
exit 0
