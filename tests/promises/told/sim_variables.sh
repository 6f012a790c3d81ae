#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of the simulated GPU's variables has all that it reads, and no others:
# sim_variables.sh FOLDER
set -u

read=$(grep -rhoE '"TFSIM_[A-Z_]+"' "$1" --include='*.c' | tr -d '"' | sort -u)
told=$(grep -E '^\| `TFSIM_' "$1/README.md" | cut -d '|' -f 2 | grep -oE 'TFSIM_[A-Z_]+' | sort -u)
[ -n "$read" ] || { echo "no variable is read in $1"; exit 1; }
[ "$read" = "$told" ] && exit 0
echo "read there: $read"
echo "on the page: $told"
exit 1
