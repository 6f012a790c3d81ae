# SPDX-License-Identifier: MIT
# Other tools around the library, and the library loaded in two ways at once: the program must run
# as it does alone, and the recording must say who has CUPTI.
. "$GPU_HERE/common.sh"

program="$trainers/lenet_naive --data $digits --steps 80 --quiet --deterministic"
# shellcheck disable=SC2086
limited 60 $program 2>/dev/null | grep -v '^time' >alone.out
library="LD_PRELOAD=$shim TFSHIM_REWRITE=off TFSHIM_OPTIONS=report=0:quiet=1:window=20"

# around NAME COMMAND...: the tool's command, the program last
around() {
	name=$1
	shift
	rm -f "$name".tfs
	limited 90 env TFSHIM_OUTPUT="$PWD/$name" "$@" >"$name.all" 2>&1
	status=$?
	grep -E '^(step|epoch|worst|result)' "$name.all" >"$name.out"
	same=differs
	cmp -s alone.out "$name.out" && same='is the same'
	: >"$name.is"
	[ ! -f "$name.tfs" ] || "$suite/recorded" "$name.tfs" >"$name.is"
	put around "$name" "status $status, output $same, $(sed -n 's/^calls //p' "$name.is") calls, $(sed -n 's/^device-operations //p' "$name.is") device records, CUPTI: $(sed -n 's/^fact-cupti //p' "$name.is" | tail -n 1), step $(awk '/^time: step/ { print $3; exit }' "$name.all") ms"
	if [ "$status" != 0 ] || [ "$same" = differs ]; then
		echo "== around $name: status $status, output $same"
		tail -n 40 "$name.all"
	fi
	grep '^tfshim' "$name.all" | head -n 3
}

# shellcheck disable=SC2086 # words, all along
{
	around alone env $program
	around preload env $library $program
	around injection env CUDA_INJECTION64_PATH="$GPU_BUILD/shim/libtfshim_inject.so" $program
	around preload-and-injection env $library CUDA_INJECTION64_PATH="$GPU_BUILD/shim/libtfshim_inject.so" $program
	[ -n "$GPU_SIMULATED" ] || around static env $library "$suite/lenet_naive_static" --data "$digits" --steps 80 --quiet --deterministic
}

nsys=$(find_nsys)
if [ -n "$nsys" ] && [ -z "$GPU_SIMULATED" ]; then
	# shellcheck disable=SC2086
	{
		around nsys "$nsys" profile --trace=cuda,nvtx --sample=none --force-overwrite=true -o "$PWD/nsys-a" $program
		around nsys-around-preload "$nsys" profile --trace=cuda,nvtx --sample=none --force-overwrite=true -o "$PWD/nsys-b" env $library $program
	}
else
	put around nsys "skipped: not on this machine"
fi
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer /usr/local/cuda/compute-sanitizer/compute-sanitizer 2>/dev/null | head -n 1)
if [ -n "$sanitizer" ] && [ -z "$GPU_SIMULATED" ]; then
	# shellcheck disable=SC2086
	around compute-sanitizer-around-preload "$sanitizer" --tool memcheck env $library $program
else
	put around compute-sanitizer "skipped: not on this machine"
fi
if [ -z "$GPU_SIMULATED" ] && command -v ncu >/dev/null; then
	# shellcheck disable=SC2086
	around ncu-around-preload ncu --clock-control none --launch-count 5 --target-processes all env $library $program
fi
exit 0
