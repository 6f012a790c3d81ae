#!/bin/sh
# SPDX-License-Identifier: MIT
# Exports of Nsight Systems, made up: what is taken of them, of an old schema too, which process, and
# what is said of those that cannot be read. nsight.sh TFSHIM
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

# whole FILE NAME: is reported as NAME is to be, and nothing else of it is
whole() {
	[ -e "$1" ] && file=$1 || file=${1%:*}
	cp "$file" before
	expect 0 report --format json -o report.out "$1"
	python3 "$here/nsight.py" compare report.out "$2" || failed=1
	expect 0 report --quiet "$1"
	[ -s "$1.txt" ] || wrong "there is no $1.txt"
	expect 0 check "$1"
	cmp -s "$file" before || wrong "$file was written to"
	for secret in TOKEN hunter2; do
		! grep -l "$secret" "$1.txt" "$1.json" "$1.html" report.out >leaks 2>/dev/null ||
			wrong "$secret is in a report of $1"
	done
	wholes=$((wholes + 1))
}

lines=0
wholes=0
python3 "$here/nsight.py" make || exit 1
for name in new old wal trigger unnumbered; do
	whole $name.sqlite $name
done
for name in queued lost ordered apart; do
	expect 0 report --format json -o report.out $name.sqlite
	python3 "$here/nsight.py" compare report.out $name || failed=1
done
whole two.sqlite:41 new
whole two.sqlite:42 two:42
cp new.sqlite 'odd?#%41 name.sqlite' && whole 'odd?#%41 name.sqlite' new
cp new.sqlite new:42 && whole new:42 new
expect 0 check --baseline two.sqlite:42 two.sqlite:42
for rank in 4 5; do
	expect 0 report --format json -o report.out ranks.sqlite:rank$rank
	[ "$(jq '"\(.program.pid) \(.program.rank)"' report.out)" = "\"$((rank + 37)) $rank\"" ] ||
		wrong "rank $rank is $(jq -c .program report.out)"
done
[ "$(find . -name '*-wal' -o -name '*-shm' -o -name '*-journal')" = ./written.sqlite-wal ] ||
	wrong "other files were made"

refused two.sqlite 'holds 2 processes; name one: two.sqlite:41 (train, .*, two.sqlite:42 (twin'
refused two.sqlite:7 'holds no process 7; it holds 2 processes; name one: two.sqlite:41 (train'
refused two.sqlite:rank5 'does not say which process is of which rank; it holds 2 processes; name one'
refused ranks.sqlite:rank6 'holds no process of rank 6; .* ranks.sqlite:41 (train, rank 4, .* (twin.*, rank 5, '
refused ranks.sqlite:rank 'cannot be read'
refused ranks.sqlite:rank999999999999999999999 'cannot be read'
refused new.sqlite:0x41 'cannot be read'
refused none.sqlite:41 'cannot be read'
refused common.sqlite 'does not say whose work is whose'
refused empty.sqlite 'no CUDA call and no work of a device'
refused view.sqlite 'no CUDA call and no work of a device'
refused long.sqlite 'longer than 16 MiB'
refused endless.sqlite 'more work than its length explains'
refused written.sqlite 'it is being written'
for bytes in 20 99 100 4096 40000; do
	head -c $bytes new.sqlite >cut.sqlite && refused cut.sqlite 'ends early'
done
cp new.sqlite bad.sqlite
dd if=/dev/urandom of=bad.sqlite bs=4096 seek=1 count=9 conv=notrunc status=none
refused bad.sqlite 'damaged'
head -c 100 new.sqlite >head.sqlite && truncate -s "$(wc -c <new.sqlite)" head.sqlite
refused head.sqlite 'damaged'
gzip -c new.sqlite >new.sqlite.gz && refused new.sqlite.gz 'unpack it'
# Numbers that are none, in every field, are left out and counted.
expect 0 report --format json -o report.out hostile.sqlite:41
python3 "$here/nsight.py" compare report.out hostile || failed=1
expect 0 report --quiet hostile.sqlite:41
echo "$wholes exports compared, $lines refusals read"
exit "$failed"
