#!/bin/sh
# SPDX-License-Identifier: MIT
# Gathers what run.sh needs on a machine where nothing can be installed or built: the built library,
# command, programs and trainers, and those libraries that such a machine may lack. CUDA's own are
# expected there, but for the small ones.
#
#	sh tests/gpu/pack.sh [--build DIR] [--no-simulated] FOLDER     makes FOLDER, at most 64 MiB
#	sh tests/gpu/pack.sh [--build DIR] --check FOLDER [ARGUMENTS]  runs it on the simulated device,
#	                     in a root with nothing of this checkout or of CUDA in it (needs root)
#	sh tests/gpu/pack.sh [--build DIR] --plain FOLDER              without libraries, for run.sh
#
# There: "sh FOLDER/tests/gpu/run.sh". It works in any place and asks for nothing but the driver,
# a shell with the usual tools, and CUDA 13's cuDNN and cuBLAS; python3 widens what it can test.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build plain='' check='' simulated=yes
while [ $# -gt 0 ]; do
	case $1 in
	--build) build=$(cd "$2" && pwd); shift ;;
	--plain) plain=yes ;;
	--check) check=yes ;;
	--no-simulated) simulated='' ;;
	-*) sed -n '3,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 1 ] || { echo "pack.sh: which folder?" >&2; exit 2; }
folder=$1
shift

# In a root of its own: /usr as it is, but without what the folder brings, and without /usr/local.
if [ -n "$check" ]; then
	folder=$(cd "$folder" && pwd)
	if ! unshare -m true 2>/dev/null; then
		echo "skipped: no root of one's own can be made here (unshare)"
		exit 77
	fi
	bare=$(mktemp -d)
	trap 'rmdir "$bare"' EXIT
	export bare folder build
	unshare -m sh -eu -c '
		mount -t tmpfs none "$bare"
		cd "$bare"
		mkdir usr proc dev tmp etc simulated elsewhere home
		for one in bin lib lib64 sbin; do [ ! -L /$one ] || cp -P /$one .; done
		cp -a /etc/alternatives etc/
		for one in usr proc dev; do mount --rbind /$one $one; done
		mount -t tmpfs none usr/local
		mount --bind "$build/tests/sim" simulated
		cp -r "$folder" elsewhere/pack
		for one in libunwind.so.8 libdw.so.1 libelf.so.1 libjq.so.1 libstdc++.so.6 libgcc_s.so.1; do
			[ ! -e usr/lib/x86_64-linux-gnu/$one ] || mount --bind /dev/null usr/lib/x86_64-linux-gnu/$one
		done
		[ ! -e usr/bin/jq ] || mount --bind /dev/null usr/bin/jq
		exec chroot . /usr/bin/env -i PATH=/usr/bin:/bin HOME=/home sh -c "
			cd /tmp && sh /elsewhere/pack/tests/gpu/run.sh --simulated --libraries /simulated --out /tmp/results \"\$@\"
			status=\$?
			cat /tmp/results/*.md
			exit \$status" sh "$@"' sh "$@"
	exit
fi

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir -p "$folder/tests/gpu/recordings" "$folder/build/shim" "$folder/build/reports"
cp "$root"/tests/*.sh "$root"/tests/*.py "$folder/tests/"
mkdir -p "$folder/tests/gpu/parts"
cp "$here"/parts/*.sh "$folder/tests/gpu/parts/"
cp "$here"/*.sh "$here"/*.awk "$here"/*.py "$folder/tests/gpu/"
rooms='cupti driver hooks libraries life nvtx pairs promises rewrites rules steps tools trainers trainers/resnet'
(cd "$root/tests" && find $rooms -name '*.sh' -o -name '*.py' -o -name '*.[ch]' -o -name '*.cu') | while read -r file; do
	mkdir -p "$folder/tests/${file%/*}"
	cp "$root/tests/$file" "$folder/tests/$file"
done
cp "$build"/shim/*.so "$folder/build/shim/"
strip --strip-unneeded "$folder"/build/shim/*.so
cp "$build/reports/tfshim" "$folder/build/reports/"
for part in $rooms gpu; do
	mkdir -p "$folder/build/tests/$part"
	find "$build/tests/$part" -maxdepth 1 -type f \( -perm -u+x -o -name '*.so' \) -exec cp {} "$folder/build/tests/$part/" \;
	# What asks the simulated device for its own times is of no use elsewhere.
	for file in "$folder/build/tests/$part"/*; do
		! objdump -p "$file" 2>/dev/null | grep -q 'NEEDED *libtfsim' || rm "$file"
	done
done
# Only of the others are lines of the source named.
find "$folder/build/tests/hooks" "$folder/build/tests/libraries" -type f -perm -u+x -exec strip --strip-debug {} +
find "$folder/build/tests" -type f -perm -u+x | while read -r file; do
	objcopy --compress-debug-sections "$file" 2>/dev/null || : # a script has none
done
cp -r "$build/tests/trainers/digits-set" "$folder/build/tests/trainers/"
python3 "$here/cases.py" "$build" "$root" >"$folder/tests/gpu/cases.tsv"
# Whatever else of the sources they name.
tr '\t,' '\n\n' <"$folder/tests/gpu/cases.tsv" | sed -n 's|^@SOURCE@/||p' | sort -u | while read -r file; do
	[ -e "$folder/$file" ] || { mkdir -p "$folder/$(dirname "$file")" && cp -r "$root/$file" "$folder/$file"; }
done
[ -z "$plain" ] || exit 0

# carry TO FILE...: the libraries that the files need, but for the C library's own
carry() {
	to=$1
	shift
	mkdir -p "$to"
	ldd "$@" 2>/dev/null | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
		case ${library##*/} in
		libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux*) ;;
		*) cp -L "$library" "$to/" ;;
		esac
	done
}

# wrap FILE: runs with the carried libraries, whatever runs it
wrap() {
	mv "$1" "$1.bin"
	cat >"$1" <<'WRAPPER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
tools=$here/../lib/tools
[ -d "$tools" ] || tools=$here/../../lib/tools
LD_LIBRARY_PATH=$tools${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/$(basename "$0").bin" "$@"
WRAPPER
	chmod +x "$1"
}

unwind=$(ldconfig -p | sed -n 's/.*libunwind\.so\.8 .*=> //p' | head -n 1)
[ -z "$unwind" ] || { carry "$folder/lib" "$unwind" && cp -L "$unwind" "$folder/lib/"; }
# What C++ needs, for kernels and CUPTI.
for library in libstdc++.so.6 libgcc_s.so.1; do
	cp -L "$(ldconfig -p | sed -n "s/.*$library .*=> //p" | head -n 1)" "$folder/lib/"
done
carry "$folder/lib/tools" "$build/reports/tfshim"
wrap "$folder/build/reports/tfshim"
mkdir "$folder/bin"
cp -L "$(command -v awk)" "$folder/bin/awk"
if jq=$(command -v jq); then
	cp -L "$jq" "$folder/bin/jq"
	carry "$folder/lib/tools" "$jq"
	wrap "$folder/bin/jq"
fi
home=$(sed -n 's/.*CUDA headers: *\(\/[^ ]*\).*/\1/p' "$build/meson-logs/meson-log.txt" | tail -n 1)
mkdir "$folder/lib/cuda"
for library in libcudart.so.13 libcupti.so.13; do
	for from in "${home:-/usr/local/cuda}/lib64" "${home:-/usr/local/cuda}/extras/CUPTI/lib64"; do
		[ ! -e "$from/$library" ] || cp -L "$from/$library" "$folder/lib/cuda/"
	done
done

sh "$here/packed.sh" "$folder" || { echo "pack.sh: the folder would not run elsewhere" >&2; exit 1; }

# What the simulated device answers, to be shown beside what this device answers.
if [ -n "$simulated" ]; then
	work=$(mktemp -d)
	for part in facts cases; do
		sh "$here/run.sh" --simulated --build "$build" --only $part --seconds 1800 --out "$work" --name simulated >/dev/null || true
	done
	cp "$work/simulated.tsv" "$folder/tests/gpu/"
	rm -rf "$work"
fi

size=$(du -sm --apparent-size "$folder" | cut -f1)
echo "$folder: $size MiB; programs need $(find "$folder/build" -type f -perm -u+x -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)"
[ "$size" -le 64 ] || { echo "pack.sh: more than 64 MiB" >&2; exit 1; }
