#!/bin/sh
# SPDX-License-Identifier: MIT
# The patch in a report, applied to the program's source, is what its advice says: the finding is
# gone, and results are the same.
#	patched.sh LIBRARY TFSHIM SIMULATED_LIBRARIES SOURCE INCLUDE... -- COMPILER...
set -u
library=$(realpath "$1") tfshim=$(realpath "$2") simulated=$(realpath "$3") source=$4
shift 4
includes=
while [ "$1" != -- ]; do
	includes="$includes -I$(realpath "$1")"
	shift
done
shift
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# run NAME COMPILER...: builds the source as it is now, runs it, and reports on it
run() {
	name=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	"$@" -g -O1 $includes -o "$out/program" "$out/program.c" "$simulated/libcudart.so.13" \
		"$simulated/libcublas.so.13" || exit 1
	LD_LIBRARY_PATH="$simulated" TFSIM_PACE=0 TFSHIM_OUTPUT="$out/$name" TFSHIM_REWRITE=off \
		TFSHIM_OPTIONS=report=0:quiet=1 \
		LD_PRELOAD="$library:$simulated/../tools/stacks_first.so:$simulated/../tools/modelled_clock.so" \
		timeout 60 "$out/program" >"$out/$name.said" 2>"$out/$name.err" ||
		fail "$name: the program ended with $?: $(cat "$out/$name.err")"
	"$tfshim" report --quiet "$out/$name.tfs" || fail "$name: no report"
}

# waits NAME: functions that the rule on waits finds, and whether there is a patch
waits() {
	jq -r '.findings[] | select(.id == "TFS201") | "\(.callsite.function) \(.patch != null)"' \
		"$out/$1.json" | sort | tr '\n' ' '
}

cp "$source" "$out/program.c"
# A source that was changed since the program started is not the program's.
touch -d '1 minute ago' "$out/program.c"
run before "$@"
[ "$(waits before)" = "multiply true settle false " ] || fail "before: $(waits before)"
# In the text it is indented, which patch takes.
for from in json text; do
	case $from in
	json) jq -r '.findings[].patch // empty' "$out/before.json" >"$out/patch" ;;
	text) sed -n '/^     patch /,/^     evidence /p' "$out/before.txt" | sed '1d;$d' >"$out/patch" ;;
	esac
	cp -p "$out/program.c" "$out/kept.c"
	patch -s -d / -p1 <"$out/patch" || fail "the patch of $from does not apply"
	diff "$out/kept.c" "$out/program.c" >"$out/diff"
	[ "$(grep '^[<>]' "$out/diff")" = "<$(printf ' \t')NEED(cudaDeviceSynchronize());" ] ||
		fail "by $from: $(cat "$out/diff")"
	[ "$from" = text ] || cp -p "$out/kept.c" "$out/program.c"
done
# Now it is newer than the run.
"$tfshim" report --quiet "$out/before.tfs"
[ "$(waits before)" = "multiply false settle false " ] || fail "changed since: $(waits before)"
touch -d '1 minute ago' "$out/program.c"
run after "$@"
[ "$(waits after)" = "settle false " ] || fail "after: $(waits after)"
grep '^all ' "$out/before.said" >"$out/wanted" || fail "the program says nothing"
grep '^all ' "$out/after.said" | cmp -s - "$out/wanted" || fail "other results"
exit "$failed"
