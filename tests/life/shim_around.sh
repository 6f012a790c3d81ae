#!/bin/sh
# SPDX-License-Identifier: MIT
# The library in programs of other kinds: shim_around.sh LIBRARY PROGRAMS_DIR CUDA_HOME CASE
set -u
shim=$1 programs=$2 cuda=$3 case=$4
here=$(cd "$(dirname "$0")" && pwd)
libraries=$programs/../sim
compiler=${CC:-cc}
# shellcheck source=tests/life/shim_common.sh
. "$here/shim_common.sh"
command -v "$compiler" >/dev/null || skip "no $compiler"

# build PROGRAM ARGUMENT...: a program in $work
build() {
	target=$1
	shift
	"$compiler" -std=gnu11 -D_GNU_SOURCE -g -I"$here/../.." -isystem "$cuda/include" "$@" -o "$work/$target" \
		>"$work/log" 2>&1 || { head -n 5 "$work/log"; return 1; }
}

# Every function that has a hook is overridden, with the version that its library gives it.
overrides() {
	set --
	for name in cudart cudnn cublas cublasLt curand nccl; do
		for file in "$libraries/lib$name.so".*[0-9]; do set -- "$@" "$file"; done
	done
	nm -D --defined-only "$@" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort -u >"$work/real"
	nm -D --defined-only "$shim" | awk '$2 == "T" { print $3 }' |
		grep -vE '^(cu[A-Zp]|tfshim_|dl(open|v?sym)$|InitializeInjection)' |
		LC_ALL=C sort -u >"$work/hooks"
	LC_ALL=C comm -12 "$work/real" "$work/hooks" >"$work/both"
	[ "$(wc -l <"$work/both")" -gt 150 ] || fail "only $(wc -l <"$work/both") functions to look at"
	{
		echo '#include <dlfcn.h>'
		echo '#include <stdio.h>'
		sed 's/.*/extern int &(void);/' "$work/both"
		echo 'static int (*const all[])(void) = {'
		sed 's/$/,/' "$work/both"
		cat <<-'C'
			};
			int main(void)
			{
				Dl_info info;
				for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
					if (dladdr((void *)all[i], &info))
						printf("%s %s\n", info.dli_fname, info.dli_sname);
				return 0;
			}
		C
	} >"$work/all.c"
	build all -fPIE -pie "$work/all.c" "$@" -ldl -Wl,-rpath,"$libraries" || { fail "all.c"; return; }
	readelf -W --dyn-syms "$work/all" | grep -c ' UND cudaMalloc@libcudart.so.13' >/dev/null ||
		fail "no version is asked for: this shows nothing"
	bare plain "$work/all"
	grep -q libtfshim "$work/plain.out" && fail "the library is there without a preload"
	bare preloaded env LD_PRELOAD="$shim" "$work/all"
	grep -v '/libtfshim.so' "$work/preloaded.out" >"$work/missed" && {
		fail "not overridden:"
		head "$work/missed"
	}
	echo "$(wc -l <"$work/preloaded.out") functions"
}

# Two majors of the runtime in a process: each caller goes on using its own, and the report says so.
majors() {
	mkdir "$work/libs"
	for major in 12 13; do
		printf 'libcudart.so.%s { global: *; };\n' $major >"$work/map"
		cat >"$work/fake.c" <<-C
			int cudaRuntimeGetVersion(int *out);
			int cudaRuntimeGetVersion(int *out) { *out = ${major}000; return 0; }
		C
		build libs/libcudart.so.$major -shared -fPIC -Wl,-soname,libcudart.so.$major \
			-Wl,--version-script,"$work/map" "$work/fake.c" || fail "fake $major"
	done
	for order in '12 13' '13 12'; do
		own=${order% *} other=${order#* }
		build two "$here/../wheels/two.c" "$work/libs/libcudart.so.$own" -ldl \
			-Wl,-rpath,"$work/libs" &&
			build plugin.so -DPLUGIN -shared -fPIC "$here/../wheels/two.c" \
				"$work/libs/libcudart.so.$other" -Wl,-rpath,"$work/libs" || fail "two.c"
		compare "two$own" '' "$work/two" "$work/plugin.so"
		says "two$own" "program ${own}000 and ${own}000, plugin ${other}000"
		bare "off$own" env LD_PRELOAD="$shim" TFSHIM_DISABLE=1 "$work/two" "$work/plugin.so"
		diff "$work/two$own.out" "$work/off$own.out" || fail "two$own: unrecorded, it differs"
		look "two$own"
		[ "$(value "two$own" fact 'several versions')" = libcudart.so ] ||
			fail "two$own: the recording says '$(value "two$own" fact 'several versions')'"
		# Both found by dlsym, by a program that is linked to neither, and to one of them.
		set -- "$work/libs/libcudart.so.$own" "$work/libs/libcudart.so.$other"
		build looked "$here/loaded/shim_looked_up.c" -ldl &&
			build linked -DLINKED "$here/loaded/shim_looked_up.c" "$1" -ldl \
				-Wl,-rpath,"$work/libs" || fail "shim_looked_up.c"
		compare "looked$own" '' "$work/looked" "$@"
		says "looked$own" "again: ${other}000"
		compare "linked$own" '' "$work/linked" "$@"
		compare "reversed$own" '' "$work/linked" "$2" "$1"
	done
	echo "two majors, either way round"
}

# A library is mapped before it is ready, by whichever thread loads it, and must not be called
# meanwhile: the driver takes its time here.
unready() {
	mkdir "$work/libs"
	build libs/libcuda.so.1 -DDRIVER -shared -fPIC -Wl,-soname,libcuda.so.1 \
		"$here/loaded/shim_unready.c" &&
		build libs/libcudart.so.12 -DRUNTIME -shared -fPIC -Wl,-soname,libcudart.so.12 \
			"$here/loaded/shim_unready.c" -ldl &&
		build unready "$here/loaded/shim_unready.c" "$work/libs/libcudart.so.12" -pthread \
			-Wl,-rpath,"$work/libs" || fail "shim_unready.c"
	export LD_LIBRARY_PATH="$work/libs" UNREADY_MS UNREADY_MAPPED=1
	# With cupti=0 it is not the helper that loads it; the helper looks again each second.
	tried=0
	for run in ends-300-quiet=1 ends-300-record=all copies-300-quiet=1 copies-300-record=all \
		thread-300-quiet=1 thread-300-record=all thread-300-cupti=0 thread-1500-cupti=0; do
		how=${run%%-*} options=${run##*-} UNREADY_MS=${run#*-}
		UNREADY_MS=${UNREADY_MS%-*}
		bare "$run-bare" "$work/unready" "$how"
		bare "$run" env LD_PRELOAD="$shim" TFSHIM_OUTPUT="$work/$run" \
			TFSHIM_OPTIONS="report=0:quiet=1:$options" "$work/unready" "$how" wait
		same "$run" "$run-bare"
		says "$run" right
		tried=$((tried + 1))
	done
	[ "$tried" = 8 ] || fail "$tried runs instead of 8"
	echo "$tried runs"
}

# A program with an allocator of its own, which must never meet what is not its own.
allocator() {
	build own "$here/loaded/shim_allocator.c" "$libraries"/libcudart.so.13 -Wl,-rpath,"$libraries" ||
		fail "shim_allocator.c"
	MALLOC_CONF=nonsense:true,abort_conf:true
	export MALLOC_CONF
	for options in '' record=all; do
		compare own "$options" "$work/own"
		look own
		expect own total cudaMalloc 50
	done
	for heap in jemalloc tcmalloc tcmalloc_minimal; do
		file=$(ldconfig -p | awk -v n="lib$heap.so" 'index($1, n) == 1 { print $NF; exit }')
		[ -n "$file" ] || continue
		MALLOC_CONF=narenas:1
		bare "$heap-alone" env LD_PRELOAD="$file" "$programs/shim_ending" return
		after=$file
		watched "$heap" '' "$programs/shim_ending" return
		after=
		same "$heap" "$heap-alone"
		echo "with $heap as well"
	done
}

# The library's own jemalloc: nothing that it takes from others lets the program notice it, and it
# reads a variable of its own and no other.
heap() {
	archive=$(dirname "$shim")/base/libtfje.a
	[ -e "$archive" ] || skip "built without jemalloc"
	# Its C++ operators, which are not linked, apart.
	nm -u "$archive" | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u |
		grep -vE '^(tfje_|_Z|__cxa_|__gxx_|_Unwind_Resume$|ffs$|_GLOBAL_OFFSET_TABLE_$)' |
		grep -xvE '__(ctype_b_loc|errno_location|popcountdi2|sched_cpucount|stack_chk_fail)|_exit|abort|clock_gettime|close|getpid|gettimeofday|madvise|mem(chr|cmp|cpy|move|set)|mmap|mprotect|munmap|pthread_(cond|mutex|mutexattr)_[a-z]*|pthread_([gs]etname_np|join|self|setspecific|sigmask)|sched_([gs]etaffinity|getcpu|yield)|sigfillset|str(chr|cmp|cpy|error_r|len|ncmp|ncpy)' \
		>"$work/taken" && fail "it takes more: $(tr '\n' ' ' <"$work/taken")"
	nm -g --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^tfje_/' >"$work/names"
	[ ! -s "$work/names" ] || fail "not renamed: $(head -n 3 "$work/names")"
	readelf -SW "$archive" | grep -q '\.init_array' && fail "it runs while it is loaded"
	export MALLOC_CONF=nonsense:true TFSHIM_LOG=warn
	watched others '' "$programs/shim_ending" return
	grep nonsense "$work/others.err" && fail "the program's variable was read"
	unset MALLOC_CONF
	export TFSHIM_MALLOC_CONF=nonsense:true
	watched own '' "$programs/shim_ending" return
	grep -q '^tfshim: .*heap: .*nonsense' "$work/own.err" || fail "its own variable was not read"
	unset TFSHIM_LOG
	compare silent '' "$programs/shim_ending" return
	grep nonsense "$work/silent.err" && fail "something is said that nobody asked for"
}

# Programs built with a sanitizer, whose runtimes look closely at what is preloaded.
sanitized() {
	tried=0
	for built in gcc:address clang:address gcc:thread clang:thread; do
		compiler=${built%:*} sanitizer=${built#*:}
		command -v "$compiler" >/dev/null && build "$compiler-$sanitizer" -fsanitize="$sanitizer" \
			"$here/ends/shim_ending.c" "$libraries"/libcudart.so.13 -Wl,-rpath,"$libraries" -pthread || {
			echo "$built: cannot be built here"
			continue
		}
		program=$work/$compiler-$sanitizer
		# gcc's runtime is a library, and wants to be the first of all.
		before=$(ldd "$program" | awk '/lib[at]san/ { print $3 }')
		kind=$compiler-$sanitizer
		bare "$kind-alone" env ${before:+LD_PRELOAD="$before"} "$program" return
		[ "$(cat "$work/$kind-alone.status")" = 6 ] || {
			echo "$built: does not run here: $(tail -n 1 "$work/$kind-alone.err")"
			before=
			continue
		}
		watched "$kind" '' "$program" return
		before=
		same "$kind" "$kind-alone"
		look "$kind"
		expect "$kind" total cudaMemcpy 200
		tried=$((tried + 1))
	done
	[ "$tried" -gt 0 ] || skip "no sanitizer"
	echo "$tried kinds"
}

# Variables by which other tools come in are theirs, set or not; the report's tool gets none of them.
variables() {
	cat >"$work/variables.c" <<-'C'
		#include <cuda_runtime_api.h>
		#include <stdio.h>
		#include <stdlib.h>
		int main(void)
		{
			void *memory;
			const char *plugin, *injection;
			if (cudaMalloc(&memory, 64) != cudaSuccess)
				return 77;
			plugin = getenv("NCCL_PROFILER_PLUGIN");
			injection = getenv("CUDA_INJECTION64_PATH");
			printf("%s %s\n", plugin ? plugin : "-", injection ? injection : "-");
			return 0;
		}
	C
	build variables "$work/variables.c" "$libraries/libcudart.so.13" -Wl,-rpath,"$libraries" ||
		fail "variables.c"
	compare unset '' "$work/variables"
	says unset '- -'
	compare set '' env NCCL_PROFILER_PLUGIN=/opt/other.so CUDA_INJECTION64_PATH=none \
		"$work/variables"
	says set '/opt/other.so none'
	# Who writes the report gets all but those that bring other libraries in.
	mkdir "$work/own" && cp "$shim" "$work/own/"
	printf '#!/bin/sh\nenv >%s/given\n' "$work" >"$work/own/tfshim" && chmod +x "$work/own/tfshim"
	env LD_PRELOAD="$work/own/$(basename "$shim")" LD_LIBRARY_PATH="$work" LC_TIME=C KEPT=1 \
		TFSHIM_OUTPUT="$work/own/run" TFSHIM_OPTIONS= "$work/variables" >"$work/log" 2>&1 ||
		fail "the program ended with $?"
	given=$(sed -n 's/^\(LD_[A-Z_]*\|LC_TIME\|KEPT\)=.*/\1/p' "$work/given" | LC_ALL=C sort | tr '\n' ' ')
	[ "$given" = 'KEPT LC_TIME ' ] || fail "the tool got: $given"
}

# The loader leaves a preload out of set-uid programs: the library is absent, the program fine.
setuid() {
	[ "$(id -u)" = 0 ] || skip "not root"
	cp "$(command -v grep)" "$work/search"
	bare normal env LD_PRELOAD="$shim" "$work/search" -c '/libtfshim.so' /proc/self/maps
	[ "$(cat "$work/normal.out")" -gt 0 ] || fail "the library is absent without the set-uid bit"
	chown nobody "$work/search" && chmod 4755 "$work/search" "$work" || skip "cannot set the bit"
	chmod 711 "$work"
	bare raised env LD_PRELOAD="$shim" "$work/search" -c '/libtfshim.so' /proc/self/maps
	[ "$(cat "$work/raised.out")" = "$(cat "$work/normal.out")" ] && skip "the bit is ignored on $work"
	[ "$(cat "$work/raised.status")" = 1 ] && [ "$(cat "$work/raised.out")" = 0 ] ||
		fail "set-uid: status $(cat "$work/raised.status"): $(cat "$work/raised.err")"
}

"$case"
exit "$failed"
