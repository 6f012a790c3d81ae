# SPDX-License-Identifier: MIT
# What run.sh and its parts share; sourced.
#
# A result is a line PART, SECTION, NAME, VALUE with tabs. Values of one name are the rounds of one
# measurement where the section is numeric (result.awk), else the last one counts. A value that
# begins with FAILED makes the suite fail.

# put SECTION NAME VALUE
put() {
	printf '%s\t%s\t%s\t%s\n' "$GPU_PART" "$1" "$2" "$(printf '%s' "$3" | tr '\n\t' '  ')" >>"${GPU_RAW:-$raw}"
}

# put_command NAME WORD...: how something was run, wherever the folders are
put_command() {
	what=$1
	shift
	put commands "$what" "$(printf '%s' "$*" | sed "s|$GPU_BUILD/|build/|g; s|$PWD/||g; s|$GPU_HERE/|tests/gpu/|g")"
}

# How many seconds the part still has.
left() {
	echo $((GPU_END - $(date +%s)))
}

# limited SECONDS COMMAND...: at most so long, and never beyond the part's end
limited() {
	limit_s=$1 left_s=$(left)
	shift
	[ "$limit_s" -lt "$left_s" ] || limit_s=$left_s
	[ "$limit_s" -ge 1 ] || return 124
	timeout -k 3 "$limit_s" "$@"
}

# The last words of a program, without what the simulated device says at the end.
last_words() {
	grep -v '^tfsim: ' "$1" | sed 's/^skipped: //' | tail -n "${2:-2}" | cut -c1-300
}

has_gpu() {
	command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU [0-9]'
}

# Does this program find all its libraries, and none of the simulated ones where it must not?
# Says what is missing.
lacks() {
	ldd "$1" 2>/dev/null | awk -v simulated="$GPU_SIMULATED${GPU_PRETEND:-}" '/not found/ { print $1 }
		/libtfsim/ && simulated == "" { print "the real ones of the simulated libraries" }' | sort -u | tr '\n' ' '
}

# link_libraries TO FIRST LAST: links to CUDA's libraries, wherever they are on this machine; the
# folder FIRST goes before all others, LAST comes after them.
link_libraries() {
	wanted='libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2 libcupti.so.13 libcurand.so.10'
	tests=''
	for one in $wanted; do
		tests="$tests${tests:+ -o }-name $one"
	done
	# shellcheck disable=SC2086 # words of find's
	found=$(timeout 60 find / \( -path /proc -o -path /sys -o -path "$work" -o -path '*/tests/sim' -o -path '*/stubs' \) -prune \
		-o \( $tests \) -print 2>/dev/null | sed 's|/[^/]*$||' | sort -u | grep -v "^${3:-/nowhere}")
	for folder in "$2" "${CUDA_HOME:-}/lib64" /usr/local/cuda/lib64 $found "$3"; do
		[ -d "$folder" ] || continue
		for file in "$folder"/libcudart.so* "$folder"/libcublas*.so* "$folder"/libcudnn*.so* "$folder"/libnccl.so* \
			"$folder"/libcupti.so* "$folder"/libcurand.so* "$folder"/libnvrtc*.so* "$folder"/libnvJitLink.so* "$folder"/libnvperf*.so*; do
			[ -e "$file" ] && [ ! -e "$1/${file##*/}" ] && ln -s "$file" "$1/"
		done
	done
	# The driver's own library, where the loader does not know it.
	if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
		driver=$(timeout 60 find / \( -path /proc -o -path /sys -o -path '*/stubs' -o -path '*/compat' \) -prune \
			-o -name libcuda.so.1 -print 2>/dev/null | head -n 1)
		# With those beside it, which it opens itself: its compiler is one.
		for file in ${driver:+"$driver" "${driver%/*}"/libnvidia-*.so* "${driver%/*}"/libcuda.so*}; do
			[ ! -e "$file" ] || ln -sf "$file" "$1/"
		done
	fi
}

# link_missing TO FOLDER: links to those of the folder's libraries that this machine lacks
link_missing() {
	for one in "$2"/*.so*; do
		[ -e "$one" ] || continue
		ldconfig -p 2>/dev/null | grep -q "${one##*/}" || ln -s "$one" "$1/"
	done
}

# rotate ROUND WORD...: the words in another order every round, so that whatever drifts meets all
# alike: forwards from a place that moves on, backwards in every second round
rotate() {
	awk -v round="$1" 'BEGIN {
		n = ARGC - 1
		for (i = 0; i < n; i++) {
			at = (i + int(round / 2)) % n
			if (round % 2) at = n - 1 - at
			printf "%s%s", ARGV[at + 1], i < n - 1 ? " " : "\n"
		}
		exit
	}' $(shift && echo "$@")
}

# All rewrites by name; that of the heap needs its library preloaded, and is no matter of the GPU.
rewrite_names() {
	"$tfshim" run --rewrite no-such-rewrite -- true 2>&1 | sed -n 's/.*any of \(.*\), each alone.*/\1/p' | tr -d ' ' | tr ',' '\n' | grep -v jemalloc | tr '\n' ' '
}

# ledger SECTION NAME RECORDING: what the rewrites did, what they said they would gain, and of one
# that was to act alone, what refused most often
ledger() {
	[ -f "$3" ] || return 0
	"$GPU_BUILD/tests/gpu/recorded" "$3" >"$GPU_WORK/recorded" 2>/dev/null || return 0
	refused=$(sed -n "s/^refused-${2#*+}-//p" "$GPU_WORK/recorded" | sort -k2 -rn | head -n 4 | tr '\n' ' ')
	[ -z "$refused" ] || put "$1 ledger" "$2: refused" "$refused"
	sed -n 's/^rewrite-\([^ ]*\) \(.*\)/\1 \2/p' "$GPU_WORK/recorded" | while read -r rewrite text; do
		case $2 in *+"$rewrite") ;; *) case $text in *'applied 0,'*) continue ;; esac ;; esac
		put "$1 ledger" "$2: $rewrite" "$text"
		echo "$text" | sed -n 's/^apply, applied [0-9]*, predicted \([-0-9.][-0-9.]*\),.*/\1/p'
	done | awk '{ sum += $1 } END { if (NR) print sum }' >"$GPU_WORK/predicted"
	[ ! -s "$GPU_WORK/predicted" ] || put "$1 predicted" "$2" "$(cat "$GPU_WORK/predicted")"
	sed -n 's/^fact-\(cudnn-search[^ ]* [0-9].*\)/\1/p; /^prediction-error-/p' "$GPU_WORK/recorded" | while read -r what text; do
		put "$1 ledger" "$2: $what" "$text"
	done
}

# step_time SECTION NAME "ENVIRONMENT..." PROGRAM ARGUMENT...: one timing, in ms per step; with a
# library preloaded also what its rewrites did
step_time() {
	section=$1 variant=$2 settings=$3
	shift 3
	rm -f step.tfs
	put_command "$section $variant" "$settings" "$@"
	# shellcheck disable=SC2086 # words
	limited 60 env TFSHIM_OUTPUT="$PWD/step" $settings "$@" >step.out 2>&1
	status=$?
	if [ "$status" != 0 ]; then
		[ "$(left)" -gt 2 ] || return 1
		put failures "$section $variant" "FAILED: status $status: $(last_words step.out)"
		echo "== $section $variant: status $status"
		cat step.out
		return 1
	fi
	put "$section" "$variant" "$(awk '/^time: step/ { print $3; exit }' step.out)"
	ledger "$section" "$variant" step.tfs
}

# is_idle SECTION VARIANT: was it seen before that the rewrite, alone, has nothing to do there?
is_idle() {
	grep -qxF "$1 $2" "$GPU_WORK/idle" 2>/dev/null
}

# note_idle SECTION VARIANT: after step_time with one rewrite by name; what never acts is measured
# once, and the time is left for what does
note_idle() {
	[ -f step.tfs ] && grep -q "^rewrite-${2#*+} .*applied 0," "$GPU_WORK/recorded" || return 0
	echo "$1 $2" >>"$GPU_WORK/idle"
	put "$1 ledger" "$2" "never applied, and so measured once"
}

# own COMMAND...: with the libraries that the machine gives it, and none of the suite's
own() (
	unset LD_LIBRARY_PATH
	[ -z "$GPU_OWN_PATH" ] || export LD_LIBRARY_PATH="$GPU_OWN_PATH"
	"$@"
)

# note_idle_of_all SECTION: the same by what was never applied in naive+all, for those rewrites
# that none of the others takes the work from
note_idle_of_all() {
	[ -f step.tfs ] || return 0
	for idle in memoise pool-threshold sync-narrowing pinned-staging cudnn-search; do
		grep -q "^rewrite-$idle .*applied 0," "$GPU_WORK/recorded" || continue
		echo "$1 naive+$idle" >>"$GPU_WORK/idle"
		put "$1 ledger" "naive+$idle" "never applied in naive+all, and so not measured"
	done
}

find_nsys() {
	command -v nsys || ls /opt/nvidia/nsight-systems/*/bin/nsys /opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys 2>/dev/null | head -n 1
}

# At the end of a part that measures: how many rounds the time was enough for, the last one perhaps
# not whole, and what the device made of it.
clocks() {
	[ -z "${round:-}" ] || put parts "rounds of $GPU_PART" "$round"
	[ -n "$GPU_SIMULATED" ] || put environment "after $GPU_PART" "$(nvidia-smi --format=csv,noheader \
		--query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw 2>/dev/null | head -n 1)"
}

shim=${GPU_BUILD:-}/shim/libtfshim.so
rewrites=${GPU_BUILD:-}/tests/rewrites
trainers=${GPU_BUILD:-}/tests/trainers
suite=${GPU_BUILD:-}/tests/gpu
tfshim=${GPU_BUILD:-}/reports/tfshim
digits=$trainers/digits-set
