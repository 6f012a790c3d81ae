#!/bin/sh
# SPDX-License-Identifier: MIT
# Every hook of a library passes on what it was given, and counts it once:
# hooks_abi.sh LIBRARY PROGRAMS_DIR PROGRAM
set -u
library=$1 programs=$2 program=$3
# shellcheck source=tests/hooks/gate.sh
. "$(dirname "$0")/gate.sh"

"$program" >"$out/alone" || failed=1
TFSHIM_OUTPUT="$out/abi" TFSHIM_OPTIONS=report=0:quiet=1:record=all TFSHIM_REWRITE=off \
	LD_PRELOAD="$library" timeout 60 "$program" >"$out/seen" 2>&1 || failed=1
diff "$out/alone" "$out/seen" >"$out/differs"
gate "arguments did not arrive as they were given" "$out/differs"
# Looked at, but not recorded.
grep -vE '^cudnnBackend(DestroyDescriptor|[GS]etAttribute)$' "$out/alone" | sort >"$out/called"
"$programs/../tools/ledger" "$out/abi.tfs" | awk '$1 == "calls" && $3 == 1 { print $2 }' | sort >"$out/counted"
diff "$out/called" "$out/counted" >"$out/uncounted"
gate "calls were not counted once" "$out/uncounted"

[ "$failed" = 0 ] || exit 1
echo "$(wc -l <"$out/counted") hooks"
