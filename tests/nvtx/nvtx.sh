#!/bin/sh
# SPDX-License-Identifier: MIT
# NVTX ranges as steps and layers: nvtx.sh SHIM PROGRAMS SIMULATED-LIBRARIES TFSHIM
set -u

shim=$1
programs=$2
export LD_LIBRARY_PATH="$3"
tfshim=$4
export TFSIM_PACE=0 TFSIM_SCALE=1 TFSHIM_REWRITE=off
unset NVTX_INJECTION64_PATH
tool=$programs/libnvtx_tool.so
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong() {
	echo "$1"
	[ ! -s "$work/dump" ] || head -n 12 "$work/dump" | sed 's/^/  /'
	failed=1
}

# ranges ANSWERS [VARIABLE=VALUE...]: what NVTX answers the program
ranges() {
	answers=$1
	shift
	env "$@" timeout 60 "$programs/nvtx_ranges" "$answers" ||
		wrong "nvtx_ranges is wrong with: $*"
}

ranges none NOTHING=
ranges shim LD_PRELOAD="$shim"
ranges none LD_PRELOAD="$shim" TFSHIM_DISABLE=1
ranges none LD_PRELOAD="$shim" TFSHIM_OPTIONS=nvtx=0
ranges shim LD_PRELOAD="$shim" TFSHIM_OPTIONS=nvtx=0:nvtx=1
(cd "$(dirname "$shim")" && ranges shim LD_PRELOAD="./$(basename "$shim")"; exit "$failed") || failed=1
ranges tool NVTX_INJECTION64_PATH="$tool"
ranges tool NVTX_INJECTION64_PATH="$tool" LD_PRELOAD="$shim"
ranges shim NVTX_INJECTION64_PATH="$tool" LD_PRELOAD="$shim" TOOL_REFUSES=1
ranges shim NVTX_INJECTION64_PATH="$work/absent.so" LD_PRELOAD="$shim"
ranges tool NVTX_INJECTION64_PATH="$tool" LD_PRELOAD="$shim" TOOL_OLDER=1

# apart ANSWERS COMMANDS [VARIABLE=VALUE...]: in a child, which inherits what the shim named
apart() {
	answers=$1
	commands=$2
	shift 2
	env LD_PRELOAD="$shim" "$@" timeout 60 sh -c "$commands; exec \"\$0\" \"\$1\"" \
		"$programs/nvtx_ranges" "$answers" || wrong "a child is wrong with: $commands, $*"
}

mkdir "$work/alone"
ln -s "$(realpath "$shim")" "$work/alone/libtfshim.so"
ranges shim LD_PRELOAD="$work/alone/libtfshim.so"
apart tool "export LD_PRELOAD=$work/alone/libtfshim.so" NVTX_INJECTION64_PATH="$tool"
for commands in 'unset LD_PRELOAD' 'export TFSHIM_DISABLE=1' 'export TFSHIM_OPTIONS=nvtx=0' :; do
	apart tool "$commands" NVTX_INJECTION64_PATH="$tool"
	apart tool "$commands" NVTX_INJECTION64_PATH="$tool" TOOL_OLDER=1
done
apart none 'unset LD_PRELOAD'
apart none 'unset LD_PRELOAD' NVTX_INJECTION64_PATH="$tool" TOOL_REFUSES=1
apart none 'unset LD_PRELOAD' NVTX_INJECTION64_PATH="$work/absent.so"
apart shim : NVTX_INJECTION64_PATH="$tool" TOOL_REFUSES=1
apart shim 'unset NVTX_INJECTION64_PATH' NVTX_INJECTION64_PATH="$tool"

# steps NAME MODE OPTIONS [VARIABLE=VALUE...]: trains, and dumps the recording
steps() {
	name=$1
	mode=$2
	options=$3
	shift 3
	rm -f "$work/dump"
	env "$@" TFSHIM_OUTPUT="$work/$name" TFSHIM_OPTIONS="report=0:$options" \
		LD_PRELOAD="$shim:$programs/../tools/stacks_first.so" timeout 60 \
		"$programs/nvtx_steps" "$mode" >"$work/$name.out" 2>&1 || {
		wrong "$name: the program ended with $?"
		cat "$work/$name.out"
	}
	"$programs/nvtx_dump" "$work/$name.tfs" >"$work/dump" || wrong "$name: no recording"
}

# all COUNT: so many steps are told, the ones that went into finding the step among them
all() {
	"$tfshim" report --format json --output "$work/$name.json" "$work/$name.tfs" \
		>"$work/told" 2>&1
	told=$(jq -r '.steps | "\(.count) + \(.warmup) = \(.count + .warmup)"' "$work/$name.json")
	[ "${told##* }" = "$1" ] || wrong "$name: other steps than $1 are told: $told"
}

# has TEXT: as the start of a line of the dump
has() {
	grep -q "^$1" "$work/dump" || wrong "$name: no line '$1'"
}

steps ranges ranges window=20
has 'fact nvtx: recorded$'
has 'fact step range: pass$'
# the first ranges are spent on finding out
grep -qE '^steps nvtx 5[0-9] ' "$work/dump" || wrong "ranges: not so many steps"
has "range pushed '' 'pass 1[0-9]' 0 ok"
has "range pushed '' 'inner' 1 ok"
has "range pushed '' 'forward' 2 ok"
has "range mark '' 'here' 0 ok"
if grep -q ' wrong$' "$work/dump"; then
	wrong "ranges: times or threads are missing"
fi
count=$(grep -c "'forward'" "$work/dump")
[ "$count" -ge 19 ] && [ "$count" -le 21 ] || wrong "ranges: $count layers in 20 steps"

# The step's own range is none of its layers; every one has its calls.
all 60
jq -r '.layers[] | "\(.name) depth \(.depth) count \(.count) calls \(.calls)"' \
	"$work/ranges.json" >"$work/layers"
printf '%s\n' 'data depth 0 count 1 calls 1' 'inner depth 0 count 1 calls 2' \
	'forward depth 1 count 1 calls 1' 'update depth 1 count 1 calls 1' |
	cmp -s - "$work/layers" || wrong "ranges: other layers: $(cat "$work/layers")"

# However many were before, what one call starts and another ends is told, and once.
steps started started record=all
for told in 'outer 1' 'ended at once 2000' 'never ended 0'; do
	count=$(grep -c "^range started '' '${told% *}' " "$work/dump")
	[ "$count" = "${told##* }" ] || wrong "started: $count ranges, not $told"
done

steps layers layers window=20
has 'steps loops '
all 60
steps plain plain window=20
has 'steps loops '
all 60
has "range pushed '' 'update' 0 ok"
steps api api window=20
has 'steps api 60 outside 1'
all 60
steps named named window=20
grep -qE '^steps nvtx 4[0-9] ' "$work/dump" || wrong "named: not so many steps"
all 60
steps option layers window=20:step_range=data
has 'steps nvtx 60 '
all 60
steps absent ranges step_range=nothing:window=20
has 'steps loops '
steps chained ranges window=20 NVTX_INJECTION64_PATH="$tool"
has "fact nvtx: recorded, and passed on to $tool"
has 'steps nvtx 5'
steps off ranges window=20:nvtx=0
has 'fact nvtx: not recorded: switched off'
has 'steps loops '
if grep -q '^range' "$work/dump"; then
	wrong "off: ranges were recorded"
fi
exit "$failed"
