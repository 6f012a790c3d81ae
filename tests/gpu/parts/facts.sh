# SPDX-License-Identifier: MIT
# What documentation leaves open, asked of this device: one line per answer.
#
#   private-runtimes  do calls and kernels of the runtimes inside cuDNN and cuBLAS reach CUPTI?
#   driver-layer      do their calls, and those of a static runtime, reach the driver's hooks?
#   kernel-handle     what is known of a kernel that was loaded from a library?
#   launch-handle     does the driver know the name of what <<<>>> launches?
#   conv-search       do cuDNN's searches write to outputs, wait, say what is deterministic?
#   copies, waits     which records do copies leave, which calls wait for the device?
#   in-flight         what of a copy is still to be taken when the call returns, by its size?
#   pinning           which mappings can be pinned?
#   making            how long do handles, events, pinned memory and graphs take to be made?
#   rates             how fast are products, by type and by shape?
#   lt                what does cuBLASLt's choice cost, and what does a larger workspace gain?
#   portions          in what portions is device memory given out?
#   memory-left       with how little free memory do libraries begin to fail?
#   backend           what do cuDNN's graphs give back about engines and plans?
#   nccl-plugin       does NCCL take a plugin from the program, also under the library?
#   late              which records has a window that opens late?
#   residual          what do calls cost once CUPTI no longer records?
#   end               what is left in the recording for each way of ending?
#   kernel-names      which kernels serve each precision?
. "$GPU_HERE/common.sh"

[ -n "$GPU_QUICK" ] || unset TFSIM_PACE

# wanted NAME: are these facts asked for?
wanted() {
	[ -z "$GPU_CASES" ] || echo "$1" | grep -qE "^($GPU_CASES)"
}

# ask PROGRAM: its lines "fact TOPIC NAME VALUE"
ask() {
	wanted "$1" || return 0
	program=$suite/facts_$1
	if [ ! -x "$program" ]; then
		put facts "$1" "skipped: not built"
		return
	fi
	missing=$(lacks "$program")
	if [ -n "$missing" ]; then
		put facts "$1" "skipped: this machine lacks $missing"
		return
	fi
	limited 45 "$program" >"$1.out" 2>&1
	status=$?
	echo "== facts_$1: status $status"
	cat "$1.out"
	while read -r word topic name value; do
		[ "$word" != fact ] || put facts "$topic $name" "$value"
	done <"$1.out"
	case $status in
	0) ;;
	77) put facts "$1" "skipped: $(last_words "$1.out" 1)" ;;
	*) put facts "$1" "FAILED: status $status: $(last_words "$1.out")" ;;
	esac
}

for name in waits memory making rates lt activity residual search kernel handle launch nccl backend; do
	ask "$name"
done

# Which kinds of records leave that cost behind?
device='kernels copies fills units overhead memory'
! wanted residual || for kind in kernels copies fills units waits runtime driver overhead memory "$device" "$device runtime" \
	"$device runtime waits" "$device runtime driver"; do
	# shellcheck disable=SC2086 # words
	limited 20 "$suite/facts_residual" $kind >residual.out 2>&1
	put facts "residual off-$(echo $kind | tr ' ' '-')" "$(sed -n 's/^fact residual off-[^ ]* //p' residual.out | tail -n 1)"
done

# Windows that open late: by single calls or by kinds of calls, tried before or not.
! wanted late || for how in apis 'apis tried' 'apis tried zeroed' 'apis tried thread' 'apis tried twice' kinds 'kinds tried' \
	'kinds tried zeroed thread' 'mixed tried'; do
	# shellcheck disable=SC2086 # words
	limited 20 "$suite/facts_late" $how >late.out 2>&1
	put facts "late $(echo $how | tr ' ' '-')" "$(sed -n 's/^fact late [^ ]* //p' late.out | tail -n 1)"
done

# watch NAME "SETTINGS..." PROGRAM ARGUMENT...: under the library; then what of it was recorded
watch() {
	name=$1 settings=$2
	shift 2
	rm -f "$name.tfs"
	# shellcheck disable=SC2086
	limited 60 env TFSHIM_OUTPUT="$PWD/$name" TFSHIM_REWRITE=off LD_PRELOAD="$shim" $settings "$@" >"$name.out" 2>&1
	status=$?
	echo "== $name: status $status"
	cat "$name.out"
	: >"$name.is"
	[ ! -f "$name.tfs" ] || "$suite/recorded" "$name.tfs" >"$name.is"
	cat "$name.is"
}

# is NAME WHAT: a number of what was recorded
is() {
	sed -n "s/^$2 //p" "$1.is" | tail -n 1 | grep . || echo 0
}

! wanted end || for way in return reset _exit exit-busy; do
	watch "end-$way" "TFSHIM_OPTIONS=report=0:quiet=1:record=all" "$suite/facts_end" "$way"
	put facts "end $way" "status $status, $(is "end-$way" calls-cudaMemsetAsync) of 100 calls and $(is "end-$way" sets) of 100 device records"
done

! wanted launch || for layer in 1 0; do
	watch "launches-$layer" "TFSHIM_OPTIONS=report=0:quiet=1:record=none:driver=$layer" "$suite/facts_launch"
	put facts "driver-layer calls-seen-driver=$layer" "$(is "launches-$layer" calls-cuLaunchKernel) cuLaunchKernel, $(is "launches-$layer" calls-cuLaunchKernelEx) cuLaunchKernelEx, $(is "launches-$layer" calls-cudaLaunchKernel) cudaLaunchKernel"
	grep '^fact-' "launches-$layer.is" | while read -r key value; do
		put facts "driver-layer ${key#fact-} driver=$layer" "$value"
	done
done

if wanted nccl && [ -x "$suite/facts_nccl" ] && [ -z "$(lacks "$suite/facts_nccl")" ]; then
	watch nccl-under "TFSHIM_OPTIONS=report=0:quiet=1:record=all" "$suite/facts_nccl"
	put facts "nccl-plugin under-the-library" "status $status, $(sed -n 's/^fact nccl-plugin static-plugin-found //p' nccl-under.out)"
fi

# The same program with the runtime shared and linked in: what is seen of each.
! wanted driver-layer || for trainer in lenet_naive mlp wide; do
	for kind in shared static; do
		case $kind in
		shared) program=$trainers/$trainer ;;
		static) program=$suite/${trainer}_static ;;
		esac
		[ -x "$program" ] || continue
		if [ "$kind" = static ] && [ -n "$GPU_SIMULATED" ]; then
			put facts "driver-layer $trainer-$kind" "skipped: the simulated driver does not serve this runtime"
			continue
		fi
		arguments="--data $digits --steps 60 --quiet"
		[ "$trainer" = wide ] && arguments="--size tiny --steps 60 --quiet"
		# shellcheck disable=SC2086
		watch "$trainer-$kind" "TFSHIM_OPTIONS=report=0:quiet=1:record=all" "$program" $arguments
		put facts "driver-layer $trainer-$kind" "status $status, $(is "$trainer-$kind" calls) calls, $(is "$trainer-$kind" kernels) kernels, $(is "$trainer-$kind" links) tied; CUPTI: $(is "$trainer-$kind" fact-cupti)"
		"$tfshim" report --quiet "$trainer-$kind.tfs" 2>/dev/null
		put facts "driver-layer $trainer-$kind-findings" "$(sed -n 's/^ *[0-9]*\. . [a-z]* *\(TFS[0-9]*\) [^ ]* *\([^ ]*\).*/\1@\2/p' "$trainer-$kind.txt" 2>/dev/null | sort | tr '\n' ' ')"
	done
done
exit 0
