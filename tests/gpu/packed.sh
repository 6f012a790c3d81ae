#!/bin/sh
# SPDX-License-Identifier: MIT
# Does whatever is in a folder that pack.sh made find its libraries there? packed.sh FOLDER
# Nothing else is counted on but the driver, the C library, and those of CUDA's libraries that are
# too large to be carried. Status 1, and a line for each library that is missing, if not.
set -eu
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expected='libcuda.so.1
libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libutil.so.1 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1
libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2 libcurand.so.10
libcusparse.so.12'

# where FILE: the folders of the pack in which the loader looks for what the file needs
where() {
	own=$(dirname "$1")
	sed -n 's/^ *R[UN]*PATH *//p' "$work/head" | tr ':' '\n' | sed "s|[$]ORIGIN|$own|; s|[$]{ORIGIN}|$own|"
	case $1 in
	*.bin | "$folder"/lib/tools/*) echo "$folder/lib/tools" ;; # by the wrapper that pack.sh makes
	*) printf '%s\n' "$folder/lib" "$folder/lib/cuda" ;;
	esac
}

find "$folder" -type f -print | while IFS= read -r file; do
	objdump -p "$file" >"$work/head" 2>/dev/null || continue
	where "$file" >"$work/where"
	sed -n 's/^ *NEEDED *//p' "$work/head" | while read -r library; do
		# shellcheck disable=SC2086 # words
		case " $(echo $expected) " in *" $library "*) continue ;; esac
		found=''
		while IFS= read -r place; do
			case $place in "$folder"*) [ ! -e "$place/$library" ] || found=yes ;; esac
		done <"$work/where"
		[ -n "$found" ] || echo "${file#"$folder"/} needs $library, which is not in the folder"
	done
done >"$work/missing"
[ -s "$work/missing" ] || exit 0
sort "$work/missing" >&2
exit 1
