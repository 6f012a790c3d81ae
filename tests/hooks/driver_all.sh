#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of the driver's has a hook or a reason to have none, and every hook passes on what
# it was given: driver_all.sh LIBRARY PROGRAMS_DIR EXPORTS NEWER UNHOOKED...
# NEWER lists functions that only newer drivers have.
set -u
library=$1 programs=$2 exports=$3 newer=$4
shift 4
# shellcheck source=tests/hooks/gate.sh
. "$(dirname "$0")/gate.sh"

awk '$1 ~ /^cu[A-Z]/ { print $1 }' "$exports" "$newer" | sort -u >"$out/all"
nm -D "$library" | awk '$2 == "T" && $3 ~ /^cu[A-Z]/ { print $3 }' | sort -u >"$out/hooked"
explained "driver_unhooked.txt, driver_replaced.txt" "$@"
comm -13 "$out/all" "$out/hooked" >"$out/unknown"
gate "hooked, but the driver has no such function" "$out/unknown"

cp "$programs/libcuda-abi.so" "$out/libcuda.so.1"
"$programs/driver_abi" "$out/libcuda.so.1" >"$out/alone" || failed=1
TFSHIM_OUTPUT="$out/abi" TFSHIM_OPTIONS=report=0:quiet=1:record=all TFSHIM_REWRITE=off \
	LD_PRELOAD="$library" timeout 60 "$programs/driver_abi" "$out/libcuda.so.1" \
	>"$out/seen" 2>&1 || failed=1
diff "$out/alone" "$out/seen" >"$out/differs"
gate "arguments did not arrive as they were given" "$out/differs"
# Lookups are answered, not recorded.
grep -v '^cuGetProcAddress' "$out/alone" | sort >"$out/called"
"$programs/../tools/ledger" "$out/abi.tfs" | awk '$1 == "calls" && $3 == 1 { print $2 }' | sort >"$out/counted"
diff "$out/called" "$out/counted" >"$out/uncounted"
gate "calls were not counted once" "$out/uncounted"

[ "$failed" = 0 ] || exit 1
echo "$(comm -12 "$out/all" "$out/hooked" | wc -l) of $(wc -l <"$out/all") functions have a hook"
