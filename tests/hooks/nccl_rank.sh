#!/bin/sh
# SPDX-License-Identifier: MIT
# Which rank a process is, which processes are recorded, and how many bytes are added up:
# nccl_rank.sh SHIM TFSHIM PROGRAM SIMULATED
set -u

shim=$1 tfshim=$2 program=$3
export LD_LIBRARY_PATH="$4"
export TFSIM_PACE=0 TFSIM_DEVICES=2 TFSHIM_OPTIONS=report=0
unset TFSHIM_OUTPUT TFSHIM_RANK RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID LD_PRELOAD
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# rank WANTED [VARIABLE=VALUE...]
rank() {
	wanted=$1
	shift
	rm -f "$work"/*
	env "$@" TFSHIM_OUTPUT="$work/run" LD_PRELOAD="$shim$after" timeout 60 "$program" || failed=1
	got=none
	[ ! -f "$work/run.tfs" ] || got=$("$tfshim" report --format json "$work/run.tfs" | jq .program.rank)
	[ "$got" = "$wanted" ] || {
		echo "rank $got, not $wanted, with: $*"
		failed=1
	}
}

# Of each function one call site: all calls have their stacks.
after=:$(dirname "$program")/../tools/stacks_first.so
rank 1
after=
sums=$("$tfshim" report --format json "$work/run.tfs" | jq -r '[.calls[] |
	select(.callsite.call == "ncclAllReduce") | "\(.callsite.function) \(.bytes)"] | sort | join(", ")')
[ "$sums" = 'of_eight 3072, of_four 1536, of_one 512, of_two 512' ] || {
	echo "other sums: $sums"
	failed=1
}
rank 1 RANK=5
rank 7 TFSHIM_RANK=7 RANK=5
rank 1 TFSHIM_PROCESS="nccl*"
rank none TFSHIM_PROCESS=python3
exit "$failed"
