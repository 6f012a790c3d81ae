#!/bin/sh
# SPDX-License-Identifier: MIT
# One libtfshim.so under the libraries of CUDA 11, 12 and 13, as NVIDIA's Python wheels have them.
# No GPU is needed: calls fail for want of a driver, and must fail the same way with the shim.
#
#   sh tests/wheels.sh [--long] [BUILD]
#
#   --long  also cuDNN 8 and 9 and old and new NCCL (3 GB to download)
#   BUILD   the built project (default: build); this script builds nothing. Status 2 without it
#
# Downloads are kept in $XDG_CACHE_HOME/tfshim/wheels.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
long=
if [ "${1-}" = --long ]; then
	long=yes
	shift
fi
# The big run.
[ -z "${TFSHIM_LONG-}" ] || long=yes
build=$(realpath -m "${1-$root/build}")
shim=$build/shim/libtfshim.so
for file in "$shim" "$build/tests/tools/ledger"; do
	[ -e "$file" ] || {
		echo "wheels: $file is not built; run: meson setup build && ninja -C build" >&2
		exit 2
	}
done
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tfshim/wheels
compiler=${CC:-cc}
failed=0
tried=0
unreachable=

# what it is | wheel | version | library
wheels='
cudart|nvidia-cuda-runtime-cu11|11.8.89|libcudart.so.11.0
cudart|nvidia-cuda-runtime-cu12|12.1.105|libcudart.so.12
cudart|nvidia-cuda-runtime-cu12|12.9.79|libcudart.so.12
cudart|nvidia-cuda-runtime|13.0.96|libcudart.so.13
cudart|nvidia-cuda-runtime|13.5.37|libcudart.so.13
static|nvidia-cuda-runtime-cu12|12.9.79|libcudart_static.a
static|nvidia-cuda-runtime|13.5.37|libcudart_static.a
cupti|nvidia-cuda-cupti-cu11|11.8.87|libcupti.so.11.8
cupti|nvidia-cuda-cupti-cu12|12.1.105|libcupti.so.12
cupti|nvidia-cuda-cupti-cu12|12.9.79|libcupti.so.12
cupti|nvidia-cuda-cupti|13.0.85|libcupti.so.13
'
long_wheels='
cudnn|nvidia-cudnn-cu11|8.9.6.50|libcudnn.so.8
cudnn|nvidia-cudnn-cu12|9.1.0.70|libcudnn.so.9
cudnn|nvidia-cudnn-cu13|9.19.0.56|libcudnn.so.9
nccl|nvidia-nccl-cu12|2.18.3|libnccl.so.2
nccl|nvidia-nccl-cu12|2.21.5|libnccl.so.2
nccl|nvidia-nccl-cu13|2.28.9|libnccl.so.2
'
[ -z "$long" ] || wheels=$wheels$long_wheels

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong() {
	echo "$1"
	failed=1
}

# fetch WHEEL VERSION FOLDER: its libraries into $cache/FOLDER, complete or not at all
fetch() {
	[ ! -d "$cache/$3" ] || return 0
	[ -z "$unreachable" ] || return 1
	mkdir -p "$cache" && tmp=$(mktemp -d "$cache/.tmp.XXXXXX") || return 1
	if ! timeout 1200 python3 -m pip download -q --timeout 15 --retries 1 --no-deps --no-cache-dir \
		--only-binary=:all: -d "$tmp" "$1==$2" </dev/null >"$work/pip" 2>&1; then
		rm -rf "$tmp"
		unreachable="$1 $2: $(grep -v '^WARNING' "$work/pip" | tail -n 1)"
		return 1
	fi
	python3 - "$tmp" <<-'PY' && mv "$tmp/lib" "$cache/$3"
	import glob, os, sys, zipfile
	into = os.path.join(sys.argv[1], "lib")
	os.mkdir(into)
	with zipfile.ZipFile(glob.glob(os.path.join(sys.argv[1], "*.whl"))[0]) as archive:
	    for item in archive.infolist():
	        name = os.path.basename(item.filename)
	        wanted = ".so" in name or name == "libcudart_static.a"
	        if "/lib/" in item.filename and wanted and not name.startswith("libnvperf"):
	            with archive.open(item) as source, open(os.path.join(into, name), "wb") as target:
	                while block := source.read(1 << 20):
	                    target.write(block)
	PY
	got=$?
	rm -rf "$tmp"
	return "$got"
}

# The program of this kind, linked to this library: the same with the shim, and all of it counted.
# Not when stderr gets its line: cuDNN 8 closes the driver again, which then stays.
same() { # KIND LIBRARY TITLE
	newer=
	nm -D "$2" | grep -q ' cudaGetDeviceProperties_v2' && newer=-DPROPERTIES_V2
	# shellcheck disable=SC2086 # one word or none
	if ! "$compiler" -O1 $newer -o "$work/$1" "$root/tests/wheels/$1.c" "$2" \
		-Wl,-rpath,"$(dirname "$2")" -Wl,--allow-shlib-undefined >"$work/log" 2>&1; then
		wrong "$3: $(tail -n 3 "$work/log")"
		return
	fi
	timeout 120 "$work/$1" >"$work/bare" 2>"$work/bare.err"
	bare=$?
	rm -f "$work/shim.tfs"
	TFSHIM_OUTPUT=$work/shim TFSHIM_OPTIONS=report=0 TFSHIM_REWRITE=off LD_PRELOAD=$shim \
		timeout 120 "$work/$1" >"$work/seen" 2>"$work/seen.err"
	seen=$?
	[ "$bare" = "$seen" ] || wrong "$3: ended with $seen, not $bare"
	for end in '' .err; do
		cmp -s "$work/bare$end" "$work/seen$end" || wrong "$3: differs with the shim:
$(diff "$work/bare$end" "$work/seen$end" | head -n 10)"
	done
	"$build/tests/tools/ledger" "$work/shim.tfs" 2>/dev/null |
		awk '$1 == "calls" { print $2, $3 }' | LC_ALL=C sort >"$work/counted"
	sed -n 's/^\([a-z]*[A-Z][^ ]*\) .*/\1 1/p' "$work/bare" | LC_ALL=C sort >"$work/called"
	cmp -s "$work/called" "$work/counted" || wrong "$3: not counted as called:
$(diff "$work/called" "$work/counted" | head -n 10)"
	[ "$1" != cudart ] || asked "$3"
	echo "$3: $(wc -l <"$work/counted") functions, $(awk '{ print $2 }' "$work/bare" | sort | uniq -c |
		sort -rn | awk 'NR <= 3 { printf "%s%s answer %s", sep, $1, $2; sep = ", " }')"
}

asked() { # TITLE
	sh "$root/tests/driver/driver_asked.sh" "$shim" "$build" "$work/cudart" >"$work/asked" ||
		wrong "$1: $(cat "$work/asked")"
}

# The runtime within the program: only what it asks the driver for can be seen without one.
linked_in() { # LIBRARY TITLE
	newer=
	nm "$1" 2>/dev/null | grep -q ' T cudaGetDeviceProperties_v2' && newer=-DPROPERTIES_V2
	# shellcheck disable=SC2086 # one word or none
	if "$compiler" -O1 $newer -o "$work/cudart" "$root/tests/wheels/cudart.c" "$1" \
		-ldl -lpthread -lrt >"$work/log" 2>&1; then
		asked "$2"
		echo "$2: $(cat "$work/asked")"
	else
		wrong "$2: $(tail -n 3 "$work/log")"
	fi
}

# A program linked to one runtime that loads a plugin linked to another.
two() { # LIBRARY PLUGIN-LIBRARY
	{ "$compiler" -o "$work/two" "$root/tests/wheels/two.c" "$1" -ldl -Wl,-rpath,"$(dirname "$1")" &&
		"$compiler" -DPLUGIN -shared -fPIC -o "$work/plugin.so" "$root/tests/wheels/two.c" "$2" \
			-Wl,-rpath,"$(dirname "$2")"; } >"$work/log" 2>&1 || {
		wrong "two runtimes: $(tail -n 3 "$work/log")"
		return
	}
	"$work/two" "$work/plugin.so" >"$work/bare" 2>&1 || wrong "two runtimes: $(cat "$work/bare")"
	for disabled in 0 1; do
		TFSHIM_DISABLE=$disabled TFSHIM_OUTPUT=$work/two.%p TFSHIM_OPTIONS=report=0 \
			LD_PRELOAD=$shim "$work/two" "$work/plugin.so" >"$work/seen" 2>&1
		cmp -s "$work/bare" "$work/seen" || wrong "two runtimes differ with the shim:
$(diff "$work/bare" "$work/seen" | head -n 10)"
	done
	echo "two runtimes: $(tail -n 1 "$work/seen")"
}

for tool in python3 "$compiler"; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
python3 -m pip --version >/dev/null 2>&1 || unreachable="python3 has no pip"

while IFS='|' read -r kind wheel version library; do
	[ -n "$kind" ] || continue
	folder=$wheel-$version
	[ "$kind" != static ] || folder=$folder-static
	fetch "$wheel" "$version" "$folder" || continue
	tried=$((tried + 1))
	file=$cache/$folder/$library
	if [ ! -f "$file" ]; then
		wrong "$wheel $version holds no $library"
	elif [ "$kind" = static ]; then
		linked_in "$file" "$wheel $version, linked in"
	elif [ "$kind" = cupti ]; then
		"$build/tests/unit/cupti/unit-cupti_decode" "$file" || wrong "$wheel $version is not read right"
	else
		same "$kind" "$file" "$wheel $version"
	fi
done <<LIST
$wheels
LIST

old=$cache/nvidia-cuda-runtime-cu12-12.9.79/libcudart.so.12
new=$cache/nvidia-cuda-runtime-13.0.96/libcudart.so.13
if [ -f "$old" ] && [ -f "$new" ]; then
	two "$old" "$new"
	two "$new" "$old"
fi

[ -z "$unreachable" ] || echo "skipped: cannot fetch $unreachable"
[ "$failed" = 0 ] || exit 1
[ -z "$unreachable" ] || exit 77
echo "$tried wheels"
