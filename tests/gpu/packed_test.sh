#!/bin/sh
# SPDX-License-Identifier: MIT
# Does packed.sh see that a library is missing? On a small folder, with the libraries that the
# command and one program need put in one by one: packed_test.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# says STATUS TEXT: what packed.sh is to answer; without a text nothing
says() {
	sh "$here/packed.sh" "$folder/pack" >"$folder/said" 2>&1
	status=$?
	if [ "$status" != "$1" ]; then
		echo "packed.sh ends with $status, not $1, before '$2'"
		failed=1
	fi
	if ! printf '%s' "$2${2:+
}" | cmp -s - "$folder/said"; then
		echo "packed.sh says:"
		cat "$folder/said"
		echo "and not: $2"
		failed=1
	fi
}

mkdir -p "$folder/pack/build/reports" "$folder/pack/build/tests/rules" "$folder/pack/build/shim" "$folder/pack/lib/tools"
cp "$build/shim/libtfshim.so" "$folder/pack/build/shim/"
says 0 ''
# lacks FILE: a line for each library of the command's but the C library's own
libraries=$(objdump -p "$build/reports/tfshim" | sed -n 's/^ *NEEDED *//p' | grep -v '^lib[cm]\.so' | sort)
lacks() {
	for one in $libraries; do
		echo "$1 needs $one, which is not in the folder"
	done
}
# shellcheck disable=SC2086 # words
case " $(echo $libraries) " in
*" libdw.so.1 "*) ;;
*) echo "the command needs no libdw: $libraries" && failed=1 ;;
esac
# The wrapped command finds what is in lib/tools; a program does not.
cp "$build/reports/tfshim" "$folder/pack/build/reports/tfshim.bin"
says 1 "$(lacks build/reports/tfshim.bin)"
for one in $libraries; do
	: >"$folder/pack/lib/tools/$one"
done
says 0 ''
cp "$build/reports/tfshim" "$folder/pack/build/reports/tfshim"
says 1 "$(lacks build/reports/tfshim)"
rm "$folder/pack/build/reports/tfshim"
# Beside the program, where its own path leads, and in a folder where it does not.
cp "$build/tests/rules/rule_904_bad" "$folder/pack/build/tests/rules/"
says 1 "build/tests/rules/rule_904_bad needs libcudart.so.13, which is not in the folder"
mkdir "$folder/pack/lib/cuda"
: >"$folder/pack/lib/libcudart.so.12"
says 1 "build/tests/rules/rule_904_bad needs libcudart.so.13, which is not in the folder"
: >"$folder/pack/lib/cuda/libcudart.so.13"
says 0 ''
exit "$failed"
