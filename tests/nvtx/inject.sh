#!/bin/sh
# SPDX-License-Identifier: MIT
# Loading by CUDA_INJECTION64_PATH: inject.sh INJECTOR PROGRAMS SIMULATED-LIBRARIES
set -u

injector=$1
programs=$2
export LD_LIBRARY_PATH="$3"
export TFSIM_PACE=0 TFSIM_SCALE=1 TFSHIM_OPTIONS=report=0
shim=$(dirname "$injector")/libtfshim.so
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/copies"

wrong() {
	echo "$1"
	sed 's/^/  /' "$work/all"
	failed=1
}

# host NAME ARGUMENT...
host() {
	name=$1
	shift
	TFSHIM_OUTPUT=$work/$name timeout 60 "$programs/inject_host" "$@" >"$work/all" 2>&1 ||
		wrong "$name: the program ended with $?"
}

if readelf -lW "$injector" | grep -q TLS || readelf -dW "$injector" | grep -q STATIC_TLS; then
	echo "$injector has static thread storage"
	failed=1
fi

host alone "$injector" "$work"
"$programs/nvtx_dump" "$work/alone.tfs" | grep -q '^fact hooks: none' || wrong "alone: not told"
count=$("$programs/nvtx_dump" "$work/alone.tfs" | sed -n 's/^device //p')
[ "$count" -ge 50 ] || wrong "alone: $count device operations"

# As a program meets it: the driver reads the variable when it starts.
CUDA_INJECTION64_PATH=$injector host driver - "$work"
count=$("$programs/nvtx_dump" "$work/driver.tfs" | sed -n 's/^device //p')
[ "${count:-0}" -ge 50 ] || wrong "driver: $count device operations"
grep -q tfshim "$work/all" && wrong "driver: something was said"
CUDA_INJECTION64_PATH=$injector host driver-full - "$work/copies" "$programs/libinject_filler.so"
grep -q 'tfshim: not loaded by CUDA_INJECTION64_PATH: .*static TLS' "$work/all" ||
	wrong "driver-full: the reason is not told"
CUDA_INJECTION64_PATH=$injector LD_PRELOAD=$shim host driver-both - "$work"
[ "$("$programs/../tools/ledger" "$work/driver-both.tfs" | awk '$2 == "cudaMemset" { sum += $3 } END { print sum }')" = 50 ] ||
	wrong "driver-both: hooks saw something else"

# A runtime linked into the program, where nothing is preloaded. Paced, so that it lasts until CUPTI
# is there.
env -u TFSIM_PACE TFSIM_SCALE=10 TFSHIM_OUTPUT="$work/client" CUDA_INJECTION64_PATH="$injector" \
	timeout 60 "$programs/../driver/driver_client" \
	>"$work/all" 2>&1 || wrong "client: ended with $?"
count=$("$programs/nvtx_dump" "$work/client.tfs" | sed -n 's/^device //p')
[ "${count:-0}" -ge 1000 ] || wrong "client: $count device operations"

LD_PRELOAD=$shim host both "$injector" "$work"
[ "$("$programs/../tools/ledger" "$work/both.tfs" | awk '$2 == "cudaMemset" { sum += $3 } END { print sum }')" = 50 ] ||
	wrong "both: hooks saw something else"

host full "$injector" "$work/copies" "$programs/libinject_filler.so"
grep -q 'tfshim: not loaded by CUDA_INJECTION64_PATH: .*static TLS' "$work/all" ||
	wrong "full: the reason is not told"
[ ! -e "$work/full.tfs" ] || wrong "full: something was recorded"

# Without the rest beside it.
cp "$injector" "$work/copies/"
TFSHIM_OUTPUT=$work/lonely timeout 60 "$programs/inject_host" "$work/copies/$(basename "$injector")" "$work" \
	>"$work/all" 2>&1
grep -q 'tfshim: not loaded by CUDA_INJECTION64_PATH: .*libtfshim_late.so' "$work/all" ||
	wrong "lonely: the reason is not told"
exit "$failed"
