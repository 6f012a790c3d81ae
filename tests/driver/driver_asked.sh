#!/bin/sh
# SPDX-License-Identifier: MIT
# Of what NVIDIA's own runtime asks the driver for, the shim answers all that it has hooks for, and
# what has none is said to need none: driver_asked.sh LIBRARY BUILD PROGRAM
# The program carries that runtime, or is linked to it. It need not come further than to ask. One that
# carries it asks by way of the shim; a shared runtime is left alone.
set -u
library=$1 build=$2 program=$3
programs=$build/tests/driver
here=$(dirname "$0")
# shellcheck source=tests/hooks/gate.sh
. "$here/../hooks/gate.sh"

# The driver alone: beside it lies a simulated runtime of the same name.
mkdir "$out/driver"
ln -s "$build/tests/sim/libcuda.so.1" "$build/tests/sim/libtfsim.so.0" "$out/driver"
LD_LIBRARY_PATH=$out/driver TFSIM_ASKED=1 timeout 60 "$program" >"$out/said" 2>&1
sed -n 's/^tfsim: asked \(cu[A-Z][^ ]* [0-9]* [0-9]*\)$/\1/p' "$out/said" | sort -u >"$out/asked"
[ "$(wc -l <"$out/asked")" -ge 300 ] || {
	echo "$(wc -l <"$out/asked") functions were asked for: $(tail -n 3 "$out/said")"
	exit 1
}

# The shim asks the driver again to tell ABIs apart.
again=$(LD_LIBRARY_PATH=$out/driver TFSIM_ASKED=1 TFSHIM_OUTPUT="$out/program" LD_PRELOAD="$library" \
	TFSHIM_OPTIONS=report=0:quiet=1 timeout 60 "$program" 2>&1 | grep -c '^tfsim: asked ')
once=$(grep -c '^tfsim: asked ' "$out/said")
if readelf -d "$program" | grep -q 'NEEDED.*libcudart'; then
	[ "$again" = "$once" ] || echo "look-ups of the shared runtime: $again, not $once" >"$out/way"
else
	[ "$again" -ge $((once + 180)) ] || echo "only $((again - once)) questions of the shim's" >"$out/way"
fi
gate "asked in another way" "$out/way"

LD_LIBRARY_PATH=$out/driver "$programs/driver_replay" <"$out/asked" >"$out/alone" || failed=1
LD_LIBRARY_PATH=$out/driver TFSHIM_OUTPUT="$out/seen" TFSHIM_OPTIONS=report=0:quiet=1 \
	LD_PRELOAD="$library" "$programs/driver_replay" <"$out/asked" >"$out/under" || failed=1
cut -d ' ' -f 1-4 "$out/alone" >"$out/abi.alone"
cut -d ' ' -f 1-4 "$out/under" | diff "$out/abi.alone" - >"$out/differs"
gate "another ABI under the shim" "$out/differs"

nm -D "$library" | awk '$2 == "T" { print $3 }' | sort -u >"$out/hooks"
awk -v ours="$(basename "$library")" 'NR == FNR { hook[$1]; next }
	($5 == ours) != ($4 in hook) || $4 == "?"' "$out/hooks" "$out/under" >"$out/passed"
gate "has a hook and was not given it" "$out/passed"

# What this driver has not: graphics, and what only newer ones have.
awk '$4 == "-" && $1 !~ /^cu(GL|EGL|VDPAU|Graphics)|_ptsz$/ { print $1, $2 }' "$out/under" >"$out/newer"
gate "not a function of this driver" "$out/newer"

grep -hv '^#' "$here"/../hooks/*_unhooked.txt | grep . >"$out/patterns"
awk -v ours="$(basename "$library")" '$5 != ours && $4 != "-" { print $4 }' "$out/under" |
	sort -u | while read -r name; do
	while read -r pattern; do
		# shellcheck disable=SC2254
		case $name in $pattern) continue 2 ;; esac
	done <"$out/patterns"
	echo "$name"
done >"$out/unsaid"
gate "asked for, and there is no hook" "$out/unsaid"

[ "$failed" = 0 ] || exit 1
echo "$(wc -l <"$out/asked") functions were asked for," \
	"$(grep -c "$(basename "$library")$" "$out/under") have hooks"
