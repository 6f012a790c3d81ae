#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of a library has a hook or a reason to have none:
# hooks_listed.sh LIBRARY PATTERN UNHOOKED EXPORTS...
#
#   PATTERN   extended regular expression: names of this library's functions
#   UNHOOKED  patterns of functions without a hook, one a line, with the reasons
#   EXPORTS   what the real library exports, of one or several versions
set -u
library=$1 mine=$2 unhooked=$3
shift 3
# shellcheck source=tests/hooks/gate.sh
. "$(dirname "$0")/gate.sh"

awk '$1 != "node" && $1 != "status" && /^[^#]/ { print $1 }' "$@" | grep -E "$mine" | sort -u >"$out/all"
nm -D "$library" | awk '$2 == "T" { print $3 }' | grep -E "$mine" | sort -u >"$out/hooked"
explained "${unhooked##*/}" "$unhooked"
comm -13 "$out/all" "$out/hooked" >"$out/unknown"
gate "hooked, but no version of the library has such a function" "$out/unknown"

[ "$failed" = 0 ] || exit 1
echo "$(wc -l <"$out/hooked") of $(wc -l <"$out/all") functions have a hook"
