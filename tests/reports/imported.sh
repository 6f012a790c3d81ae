#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of PyTorch's profiler, made up: what is taken of them, in both dialects, and what is said of
# those that cannot be read. imported.sh TFSHIM
set -u
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

tfshim=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# expect STATUS ARGUMENT...
expect() {
	want=$1
	shift
	"$tfshim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'$*' ended with $got, not $want"
}

# refused FILE REASON: in one line, by both commands
refused() {
	for command in report check; do
		expect 3 "$command" "$1"
		[ "$(wc -l <err)" = 1 ] || wrong "$1 is not refused in one line"
		grep -q "$1: .*$2" err || wrong "it is not said of $1: $2"
		lines=$((lines + 1))
	done
}

lines=0
python3 "$here/imported.py" make || exit 1
for name in new old packed; do
	case $name in
	packed) file=packed.json.gz ;;
	*) file=$name.json ;;
	esac
	expect 0 report --format json -o report.out "$file"
	python3 "$here/imported.py" compare report.out "$name" || failed=1
	expect 0 report --quiet "$file"
	[ -s "$file.txt" ] || wrong "there is no $file.txt"
	[ -s "$file" ] || wrong "$file was written over"
	expect 0 check "$file"
	for secret in TOKEN hunter2; do
		! grep -rl "$secret" "$file.txt" "$file.json" "$file.html" report.out >leaks 2>/dev/null ||
			wrong "$secret is in a report of $file"
	done
done

expect 0 report --format json -o report.out long.json
python3 "$here/imported.py" compare report.out long || failed=1

printf '[]' >list.json && refused list.json 'no CUDA call and no work of a device'
head -c 700 new.json >cut.json && refused cut.json 'ends early (at byte 700)'
head -c 400 packed.json.gz >cut.gz && refused cut.gz 'ends early'
cp packed.json.gz bad.gz && printf 'damage' | dd of=bad.gz bs=1 seek=200 conv=notrunc status=none
refused bad.gz 'damaged'
printf '{"traceEvents": [' >open.json && refused open.json 'ends early'
printf '{"traceEvents": [1]}' >number.json && refused number.json 'an event is not a JSON object'
printf '{"traceEvents": [{"ph": "X",}]}' >comma.json && refused comma.json 'no event can be read'
printf '{"traceEvents": [] ]' >closed.json && refused closed.json 'not JSON'
printf '{"traceEvents": []} {}' >twice.json && refused twice.json 'text after the end'
python3 -c 'print("{\"traceEvents\": [{\"ph\": \"X\", \"args\":" + "[" * 9999 + "]" * 9999 + "}]}")' >deep.json
refused deep.json 'no event can be read'
python3 -c 'print("{\"traceEvents\": [{\"name\": \"" + "x" * (17 << 20) + "\"}]}")' >long.json
refused long.json 'longer than 16 MiB'
refused two.json 'holds 2 processes; name one: two.json:41 (train, calls: 32), two.json:42 (calls: 1)'
refused two.json:43 'holds no process 43; it holds 2 processes; name one: two.json:41 (train'
refused two.json:rank0 'does not say which process is of which rank; it holds 2 processes; name one'
refused ranks.json 'name one: ranks.json:41 (train, calls: 32), ranks.json:42 (twin, calls: 36)'
refused ranks.json:rank1 'does not say which process is of which rank; it holds 2 processes; name one: ranks'
refused new.json:rank4 'it is of rank 3, not 4'
refused list.json:rank0 'does not say which rank it is of'
refused new.json:rankle 'cannot be read'
refused shared.json:41 'does not say whose work is whose'
# Of several processes the one that is named is reported, with its own work alone.
for name in new:rank3 two:41 ranks:41 ranks:42; do
	case $name in
	ranks*) like=$name ;;
	*) like=new ;;
	esac
	expect 0 report --format json -o report.out "${name%:*}.json:${name#*:}"
	python3 "$here/imported.py" compare report.out "$like" || failed=1
	expect 0 check "${name%:*}.json:${name#*:}"
done
# Numbers that are none, in every field, are left out and counted.
expect 0 report --format json -o report.out hostile.json
python3 "$here/imported.py" compare report.out hostile || failed=1
echo "$lines refusals read"
exit "$failed"
