#!/bin/sh
# SPDX-License-Identifier: MIT
# The driver layer: what a program finds when it looks the driver up, and what of it is seen.
#	driver.sh LIBRARY PROGRAMS_DIR TFSHIM
# Each program runs alone first, and must say the same under the library.
set -u
library=$1 programs=$2 tfshim=$3
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
unset LD_PRELOAD TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DISABLE
export TFSIM_PACE=0
simulated=$programs/../sim
stacks=$programs/../tools/stacks_first.so
failed=0 done=0

fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# same NAME PRELOAD OPTIONS PROGRAM ARGUMENTS: its output and status are as without the library
same() {
	name=$1 preload=$2 options=$3
	shift 3
	done=$((done + 1))
	timeout 60 "$@" >"$out/$name.alone" 2>"$out/$name.alone.err"
	alone=$?
	rm -f "$out/$name.tfs"
	TFSHIM_OUTPUT="$out/$name" TFSHIM_OPTIONS="report=0:quiet=1:$options" TFSHIM_REWRITE=off \
		LD_PRELOAD="$preload" timeout 60 "$@" >"$out/$name.out" 2>"$out/$name.err"
	status=$?
	[ "$alone" = 0 ] || fail "$name alone: status $alone: $(tail -n 3 "$out/$name.alone")"
	[ "$status" = 0 ] || fail "$name: status $status: $(tail -n 5 "$out/$name.out" "$out/$name.err")"
	cmp -s "$out/$name.alone" "$out/$name.out" || fail "$name says something else"
}

# counted NAME FUNCTION COUNT [MOST]: calls of a function that were seen
counted() {
	got=0
	[ ! -f "$out/$1.tfs" ] || got=$("$programs/../tools/ledger" "$out/$1.tfs" |
		awk -v f="$2" '$1 == "calls" && $2 == f { sum += $3 } END { print sum + 0 }')
	[ "$got" -ge "$3" ] && [ "$got" -le "${4-$3}" ] ||
		fail "$1: $got calls of $2 were seen, not $3"
}

findings() { # NAME
	"$tfshim" report --format json --output "$out/$1.json" "$out/$1.tfs" >/dev/null 2>&1
	jq -r '.findings[] | select(.callsite.line) |
		"\(.id) \(.callsite.file | sub(".*/"; "")):\(.callsite.line) \(.callsite.function)"' \
		"$out/$1.json" | sort
}

driver=$out/first/libcuda.so.1
mkdir "$out/first" "$out/other" "$out/old" "$out/open"
cp "$programs/libcuda-fake.so" "$driver"
cp "$programs/libcuda-fake.so" "$out/other/libcuda.so.1"
cp "$programs/libcuda-open.so" "$out/open/libcuda.so.1"
cp "$programs/libcuda-old.so" "$out/old/libcuda.so.1"

# What each asks for is what it gets, and what has a hook is seen.
hostile=$programs/driver_client_hostile
for program in "$hostile" "$programs/driver_client_own"; do
	kind=$(basename "$program")
	for case in versions forms refused threads; do
		same "$kind-$case" "$library" record=none "$program" $case "$driver"
	done
	same "$kind-old" "$library" record=none "$program" old "$out/old/libcuda.so.1"
	same "$kind-twice" "$library" record=none "$program" twice "$driver" "$out/other/libcuda.so.1"
	same "$kind-again" "$library" record=none "$program" again "$driver" "$out/other/libcuda.so.1"
done
# A driver whose references to itself can be overridden, as the vendor's cannot.
same open "$library" record=none "$hostile" threads "$out/open/libcuda.so.1"
counted open cuMemAlloc_v2 200 400
counted driver_client_hostile-versions cuMemAlloc_v2 1007
counted driver_client_hostile-versions cuMemcpyHtoD_v2 4
counted driver_client_hostile-versions cuMemcpyHtoD_v2_ptds 2
counted driver_client_hostile-versions cuEventElapsedTime 1
counted driver_client_hostile-versions cuEventElapsedTime_v2 1
counted driver_client_hostile-versions cuLaunchHostFunc 1
counted driver_client_hostile-versions cuLaunchHostFunc_v2 1
counted driver_client_hostile-versions cuMemcpyWithAttributesAsync_ptsz 1
counted driver_client_hostile-forms cuMemAlloc_v2 4
counted driver_client_hostile-old cuMemAlloc_v2 1
# While one thread starts the recording, the other goes on unseen.
counted driver_client_hostile-threads cuMemAlloc_v2 200 400
# The first driver is seen. It stays, so that a second one beside it, or later, is another.
counted driver_client_hostile-twice cuMemAlloc_v2 1
counted driver_client_hostile-again cuMemAlloc_v2 1

# Switched off, nothing of it is seen.
same off "$library" record=none:driver=0 "$hostile" versions "$driver"
counted off cuMemAlloc_v2 0
same off-altogether "$library" record=none:driver=0 "$hostile" off "$driver"
TFSHIM_DISABLE=1 same disabled "$library" record=none "$hostile" off "$driver"
same on "$library" record=none:driver=0:driver=1 "$hostile" versions "$driver"
counted on cuMemAlloc_v2 1007

# Who asks all libraries for what none has does not find it, and finds what one has.
same absent "$library" record=none "$programs/driver_absent" "$simulated/libcudart.so.13"
grep -q '^cudaMalloc by default: 1 1' "$out/absent.out" || fail "absent: nothing was found"

# A driver that the program closes again, at once or after the helper thread has asked it for its
# device: nothing points to where it was.
for cupti in 0 1; do
	for rounds in '1 0' '1 1500' '20 0' '1 1500 start' '20 0 start' '3 600 start'; do
		# shellcheck disable=SC2086 # words
		LD_LIBRARY_PATH=$simulated same "unloaded-$cupti-$(echo $rounds | tr ' ' -)" "$library" \
			"cupti=$cupti" "$programs/driver_unloaded" libcuda.so.1 $rounds
	done
done
counted unloaded-0-20-0 cuMemAlloc_v2 20

# Before the library's own constructor; beside another preloaded library, in either order.
EARLY_LIBCUDA=$driver
export EARLY_LIBCUDA
same early "$library" record=none "$programs/driver_client_early"
counted early cuMemAlloc_v2 2
same second-after "$library:$programs/libdriver_client_second.so" record=none \
	"$hostile" forms "$driver"
same second-before "$programs/libdriver_client_second.so:$library" record=none \
	"$hostile" forms "$driver"
counted second-after cuMemAlloc_v2 4
counted second-before cuMemAlloc_v2 4

# A library in two parts with the same names: no recursion, and one call is one call, whatever the
# parts call. Whoever carries a runtime of its own gets the driver's functions.
set --
for name in libcublas.so.13 libcublasLt.so.12 libcudart.so.12 libcudnn_graph.so.9 libcufft.so.11 \
	libcurand.so.10 libcusolver.so.12 libcusparse.so.12 libnccl.so.2 libnvrtc.so.13 \
	libcupti.so.13 libnvidia-ml.so.1; do
	cp "$programs/libcudnn_front.so" "$out/$name"
	set -- "$@" "$out/$name"
done
same front "$library" record=none "$programs/driver_client_front" "$driver" "$@"
counted front cudnnCreate 2
counted front cudnnSetTensor4dDescriptor 1

# A runtime inside the program: found by the program's own search path, seen, and judged alike.
for program in driver_client driver_client_shared; do
	LD_LIBRARY_PATH=$simulated same $program "$library:$stacks" window=20 "$programs/$program"
	findings $program >"$out/$program.findings"
done
counted driver_client cuLaunchKernel 1200
counted driver_client cudaMemcpy 0
counted driver_client_shared cudaMemcpy 601
counted driver_client_shared cuMemcpyHtoD_v2 0
cmp -s "$out/driver_client.findings" "$out/driver_client_shared.findings" || {
	fail "a linked-in runtime gets other findings than a shared one:"
	diff "$out/driver_client.findings" "$out/driver_client_shared.findings"
}
[ "$(wc -l <"$out/driver_client.findings")" -ge 4 ] || fail "fewer findings than the loop has faults"
same no-libraries "$library" record=none "$programs/driver_client"
counted no-libraries cuLaunchKernel 1200

# Rare forms: what each works on is known.
LD_LIBRARY_PATH=$simulated same forms "$library" record=all "$programs/driver_forms"
worked() { # FUNCTION LINES
	"$programs/driver_operands" "$out/forms.tfs" "$1" >"$out/worked"
	[ "$(cat "$out/worked")" = "$2" ] || fail "$1 was recorded as: $(cat "$out/worked")"
}
# From the first row's start to the last row's end.
worked cuMemcpy3D_v2 '512 write 3536 device read 3536 host kind 1'
worked cuMemcpy3DAsync_v2 '512 write 3536 host read 3536 device kind 2'
worked cuMemcpyBatchAsync_v2 '300 write 100 device read 100 device write 200 device read 200 device kind 4
0'
worked cuMemsetD2D16_v2 '64 write 0 device'
worked cuMemsetD2D32Async '256 write 256 device'
worked cuLaunchKernel '0 maybe 4096 device'

# What each library says of itself, and no more.
"$tfshim" report --format text \
	--output "$out/seen" "$out/driver_client.tfs" >/dev/null 2>&1
tr -s ' \n' ' ' <"$out/seen" | grep -q 'cudart no shared library loaded; calls of a linked-in copy are seen at the driver' ||
	fail "of the runtime it is said: $(grep -A1 '^ *[!] *cudart\|^ *cudart' "$out/seen")"
"$tfshim" report --format text --output "$out/seen" "$out/driver_client_shared.tfs" >/dev/null 2>&1
tr -s ' \n' ' ' <"$out/seen" | grep -q 'cudart version [0-9]*, calls seen, .* cuda version [0-9]*, no calls seen,' ||
	fail "of the driver it is said: $(grep -A1 '^ *cuda ' "$out/seen")"

# NVIDIA's own, as far as it comes.
if [ -x "$programs/driver_static" ]; then
	LD_LIBRARY_PATH=$simulated same static "$library" record=none "$programs/driver_static"
	grep -q '^devices -1: cudaErrorNotSupported' "$out/static.out" &&
		grep -q 'not supported (cuGetExportTable)' "$out/static.err" ||
		fail "the static runtime stopped elsewhere: $(cat "$out/static.out")"
	# Neither its frames nor libc's between them are taken for the program's.
	mkdir "$out/inner"
	cp "$programs/libcuda-inner.so" "$out/inner/libcuda.so.1"
	DRIVER_INNER=$simulated/libcuda.so.1 LD_LIBRARY_PATH=$out/inner:$simulated \
		same inner "$library:$stacks" record=all "$programs/driver_static"
	counted inner cuMemGetInfo_v2 200
	"$tfshim" report --format json --output "$out/inner.json" "$out/inner.tfs" >/dev/null 2>&1
	site=$(jq -r '.calls[].callsite | select(.file and .function != "begin") |
		"\(.call) \(.file | sub(".*/"; "")) \(.function)"' "$out/inner.json")
	[ "$site" = "cuMemGetInfo_v2 driver_static.c main" ] || fail "below the static runtime: $site"
fi

# The same inside a plugin.
export LD_LIBRARY_PATH="$simulated"
same plugin-local "$library" record=none "$programs/driver_client_plugin" \
	"$programs/driver_client_train.so" local
counted plugin-local cuLaunchKernel 1200
counted plugin-local cuMemGetInfo_v2 1
same plugin-deep "$library" record=none "$programs/driver_client_plugin" \
	"$programs/driver_client_train.so" deep
counted plugin-deep cuMemGetInfo_v2 1
counted plugin-deep cuLaunchKernel 0
"$tfshim" report --format text --output "$out/deep" "$out/plugin-deep.tfs" >/dev/null 2>&1
grep -q 'driver_client_train.so was opened with RTLD_DEEPBIND' "$out"/deep* ||
	fail "plugin-deep: not told in the report"
same plugin-stripped "$library" record=none:deepbind=0 "$programs/driver_client_plugin" \
	"$programs/driver_client_train.so" deep
counted plugin-stripped cuLaunchKernel 1200
grep -q 'driver_client_train.so is opened without RTLD_DEEPBIND' "$out/plugin-stripped.err" ||
	fail "plugin-stripped: nothing was said"

[ "$failed" = 0 ] || exit 1
echo "$done runs are as without the library; what has a hook was seen"
