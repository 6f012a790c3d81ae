#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of lt-search: it measures, and the program computes the same bits as without it, on
# its own memory and by its own algorithms, and waits for nothing.
#	rewrite_products.sh LIBRARY PROGRAMS_DIR   (TFSHIM_LONG=1: many more seeds)
# shellcheck disable=SC2034 # for rewrite_common.sh
set -u
library=$1 programs=$2 rewrite=lt-search
. "${0%/*}/rewrite_common.sh"
program=$programs/rewrite_products
# Of a device whose time is modelled. It waits for an idle one for a ten-thousandth of that: 0.1 s,
# and 10 s where the device is idle as soon as its threads get a core.
patient=search_ms=1000000 patienter=search_ms=100000000

# measured CASE LEAST MOST: so many products were
measured() {
	got=$(ledger "$1" "fact lt-search")
	[ "$got" -ge "$2" ] && [ "$got" -le "$3" ] ||
		fail "$1: $got products were measured, not $2 to $3: $("$programs/../tools/ledger" "$out/$1.tfs" | grep '^lt-search')"
}

# same CASE LEAST MOST ENVIRONMENT PATIENCE: the bits of a run without tfshim
same() {
	# shellcheck disable=SC2086
	want=$(env TFSIM_PACE=0 $4 timeout 100 "$program" "$1" 2>/dev/null | grep '^all ')
	run "$1" "$5" "TFSIM_PACE=0 $4" "$program" "$1" || fail "$1: the program noticed: $(tail -n 3 "$out/$1.out")"
	got=$(grep '^all ' "$out/$1.out")
	[ -n "$want" ] && [ "$got" = "$want" ] || fail "$1 ($4): $got, not $want"
	measured "$1" "$2" "$3"
}

for seed in '' $(seq 1 "$few"); do
	hostile=${seed:+TFSIM_HOSTILE=$seed}
	same plain 1 1 "$hostile" "$patienter"
	same late 2 2 "$hostile" "$patienter"
	same in-place 1 1 "$hostile" "$patienter"
	same bias 1 1 "$hostile" "$patienter"
	same sums 1 1 "$hostile" "$patienter"
	same refused 1 1 "$hostile" "$patienter"
	same memory 1 1 "$hostile" "$patienter"
	same reset 2 3 "$hostile" "$patienter"
	same threads 0 8 "$hostile" "$patient"
	same scalars 0 0 "$hostile" "$patient"
	same capture 0 0 "$hostile" "$patient"
	same beside-gate 0 0 "$hostile" "$patient"
	same behind-gate 0 0 "$hostile" "$patient"
done

# A naive one that works on the program's matrices, or waits for its stream.
counterexample in-place 0 $((1 << 49)) "$patient" "" "$program" in-place
counterexample behind-gate 0 $((1 << 50)) "$patient" "" "$program" behind-gate

refuses plain-product 1 "$patient" TFSIM_PACE=0 "$program" scalars
refuses not-capturing 1 "$patient" TFSIM_PACE=0 "$program" capture
refuses streams-idle 1 "$patient" TFSIM_PACE=0 "$program" beside-gate
refuses product-budget 1 "$patient:search_problems=0" TFSIM_PACE=0 "$program" plain
refuses time-budget 1 search_ms=0 TFSIM_PACE=0 "$program" plain
# Tried again at the second and the fourth call of five.
refuses device-memory 3 "$patient" "TFSIM_PACE=0 TFSIM_MEMORY=64m" "$program" plain
refuses device-memory 3 "$patient:search_memory=1k" TFSIM_PACE=0 "$program" plain
refuses not-in-window 3 "$patient:record=all" TFSIM_PACE=0 "$program" plain

# In the sets that users name; nothing where rewrites are off.
for set in safe exact report; do
	rewrite=$set
	run "set-$set" "$patienter" TFSIM_PACE=0 "$program" plain || fail "$set: $(tail -n 3 "$out/set-$set.out")"
	measured "set-$set" 1 1
	"$programs/../tools/ledger" "$out/set-$set.tfs" | grep -q '^lt-search state .* only measures: no call is changed$' ||
		fail "$set: it is not said that lt-search changes no call"
	[ "$(ledger "set-$set" "lt-search applied")" = 0 ] || fail "$set: lt-search says that it changed a call"
done
rewrite=off
run set-off "$patient" TFSIM_PACE=0 "$program" plain || fail "off: $(tail -n 3 "$out/set-off.out")"
measured set-off 0 0

finish
