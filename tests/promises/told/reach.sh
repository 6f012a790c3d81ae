#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a program on the simulated device and tells what it asked for in vain:
# reach.sh LIBRARIES PROGRAM [ARGUMENTS]
# LIBRARIES is the folder of the simulated libraries (build/tests/sim). Afterwards a table goes to
# standard error: the functions that no simulated library has (only those that PROGRAM itself links
# to), calls that answered "not supported", kernels without a CPU version. Its own status is the
# program's.
set -u

[ $# -ge 2 ] || {
	echo "usage: reach.sh LIBRARIES PROGRAM [ARGUMENTS]" >&2
	exit 2
}
libraries=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL

program=$(command -v "$1") || program=$1
cuda='^(__cuda|cuda|cudnn|cublas|curand|cusparse|cufft|cusolver|cu[A-Z]|cupti|nccl|nvml)'
nm -D --undefined-only "$program" 2>/dev/null | awk '{ sub(/@.*/, "", $2); print $2 }' |
	grep -E "$cuda" | sort -u >"$work/linked"
for library in "$libraries"/*.so; do
	nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }'
done | sort -u >"$work/simulated"
comm -23 "$work/linked" "$work/simulated" >"$work/missing"

LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TFSIM_CALLS="$work/calls" "$@"
status=$?

{
	sed 's/^/function-missing\t-\t/' "$work/missing"
	if [ -f "$work/calls" ]; then
		# Of several processes: added up.
		awk -F '\t' -v OFS='\t' '{ n[$1 OFS $3] += $2 }
			END { for (k in n) { split(k, part, OFS); print part[1], n[k], part[2] } }' \
			"$work/calls" | sort -t "$(printf '\t')" -k1,1 -k2,2nr -k3,3
	fi
} >"$work/table"
{
	awk -F '\t' '{ printf "reach: %-18s %8s  %s\n", $1, $2, $3 }' "$work/table"
	echo "reach: $(wc -l <"$work/missing") of $(wc -l <"$work/linked") linked functions missing, $(grep -c '^call-not-supported' "$work/table") not supported, $(grep -c '^kernel-skipped' "$work/table") kernels without a CPU version, exit status $status"
} >&2
exit "$status"
