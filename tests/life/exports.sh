#!/bin/sh
# SPDX-License-Identifier: MIT
# What the built library shows to the program that it is loaded into: exports.sh LIBRARY
set -u

library=$1
# The newest symbol version of glibc that may be needed: what Debian 12 and RHEL 9 both have.
newest=2.34
own_tls_limit=512
failed=0

# gate TITLE LINES: passes when there are no lines
gate() {
	if [ -n "$2" ]; then
		echo "$1:"
		echo "$2" | sed 's/^/  /'
		failed=1
	fi
}

exported=$(readelf -W --dyn-syms "$library" |
	awk '$6 == "DEFAULT" && $7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") { print $8 }' | LC_ALL=C sort)
# A row of the hook table begins with the name, where it is filled in.
hooked=$(readelf -W -p tfs_functions "$library" | awk '$NF ~ /^(__)?(cu|nccl)[A-Za-z]/ { print $NF }' |
	LC_ALL=C sort)
if [ -z "$hooked" ]; then
	echo "no hook table in $library"
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$exported" | grep -vE '^(tfshim_|InitializeInjectionNvtx2$)' >"$work/exported"
# The rest: how the driver is looked up, and how a program ends.
printf "%s\n" "$hooked" __cxa_atexit _Exit _exit dlopen dlsym dlvsym | LC_ALL=C sort >"$work/hooked"

gate "exported, but in no hook table" "$(LC_ALL=C comm -23 "$work/exported" "$work/hooked")"
gate "in a hook table, but not exported" "$(LC_ALL=C comm -13 "$work/exported" "$work/hooked")"
gate "exported with a version" "$(echo "$exported" | grep '@')"
gate "exported, and the program's own affair" "$(echo "$exported" |
	grep -E '^(malloc|calloc|realloc|free|memalign|posix_memalign|aligned_alloc|valloc|pvalloc)$|^mall(ctl|ocx)|^(sd|d|r|x|s|n)allocx?$|^_Unwind_|^unw?_|^_U|^backtrace|^(tf)?je_')"
# The program's heap is the program's, as is who unwinds its stack: the library has its own of both.
gate "taken from the program" "$(nm -D --undefined-only "$library" | sed 's/.* U //; s/@.*//' |
	grep -xE 'malloc|calloc|realloc|free|memalign|posix_memalign|aligned_alloc|strn?dup|v?asprintf|opendir|fopen|fdopen|getline|_Unwind_.*')"
gate "needed beside glibc" "$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1|lib(m|dl|rt)\.so\.[0-9]|libpthread\.so\.0)$')"
gate "searched for beside the program's own libraries" \
	"$(readelf -dW "$library" | grep -E 'RPATH|RUNPATH')"
# Each page that the loader has to write to is paid for by every process, as is what runs in it.
readelf -rW "$library" | awk '$3 ~ /RELATIV/ { print substr($1, 1, length($1) - 3) }' | sort -u >"$work/pages"
[ "$(wc -l <"$work/pages")" -le 16 ] || gate "written to while loading" "$(wc -l <"$work/pages") pages"
gate "more runs while loading than the compiler's own and ours" \
	"$(readelf -dW "$library" | awk '/INIT_ARRAYSZ/ && $3 > 16')"
gate "writes to code while loading" "$(readelf -dW "$library" | grep TEXTREL)"

version=$(readelf -W --version-info "$library" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' |
	sort -uV | tail -n 1)
if [ "$(printf '%s\n%s\n' "$version" "$newest" | sort -V | tail -n 1)" != "$newest" ]; then
	gate "needs a glibc newer than $newest" \
		"$(readelf -W --dyn-syms "$library" | grep -F "@GLIBC_$version" | awk '{ print $8 }')"
fi

# Variables of the private heap are known by its prefix.
tls=$(readelf -W --syms "$library" |
	awk '$4 == "TLS" && $8 !~ /^tfje_/ { if (!seen[$2 $8]++) sum += $3 } END { print sum + 0 }')
all_tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
if [ "$tls" -ge "$own_tls_limit" ]; then
	gate "static thread storage of our own, $tls bytes of at most $own_tls_limit" "$(readelf -W --syms \
		"$library" | awk '$4 == "TLS" { print $3, $8 }' | sort -rn | head)"
fi

[ "$failed" = 0 ] || exit 1
echo "$(wc -l <"$work/hooked") hooks; glibc $version; thread storage $tls bytes of $((${all_tls:-0}))"
