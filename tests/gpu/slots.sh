#!/bin/sh
# SPDX-License-Identifier: MIT
# The log of export tables (slots.c), tried on a driver of the test's own, which has one table that
# can be copied and two that cannot: slots.sh BUILD/tests/gpu
set -u
folder=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! grep -q '^flags.* avx' /proc/cpuinfo; then
	echo "skipped: this processor has none of the registers that the test fills (AVX)"
	exit 77
fi
failed=0
rest=010203-0405-0000-0000-000000000000

# try ONLY: one run of the program; what is to be written of it comes in
try() {
	sort >"$work/want"
	rm -f "$work/is"
	if ! env ${1:+"SLOTS_ONLY=$1"} SLOTS_OUT="$work/is" LD_AUDIT="$folder/libslots.so" timeout 30 \
		"$folder/slots_client" "$folder/libslots_driver.so" 100000; then
		echo "copied: ${1:-all}: the program fails"
		failed=1
	fi
	if ! sort "$work/is" | diff "$work/want" -; then
		echo "copied: ${1:-all}: something else (>) than is so (<)"
		failed=1
	fi
}

other="table slots_client 01$rest 1 0 0 no-size-at-its-head
table slots_client 02$rest 1 0 0 no-size-at-its-head"
try '' <<EOT
table slots_client 00$rest 2 48 3 copied
slot slots_client 00$rest 1 400000
slot slots_client 00$rest 2 1
$other
EOT
try none <<EOT
table slots_client 00$rest 2 48 3 not-asked-for
$other
EOT
try "00$rest" <<EOT
table slots_client 00$rest 2 48 3 copied
slot slots_client 00$rest 1 400000
slot slots_client 00$rest 2 1
$other
EOT
timeout 30 "$folder/slots_client" "$folder/libslots_driver.so" 100000 || { echo "the program fails alone"; failed=1; }
# A program that finds that the table is a copy.
SLOTS_OUT="$work/is" LD_AUDIT="$folder/libslots.so" timeout 30 "$folder/slots_client" \
	"$folder/libslots_driver.so" 10 picky >/dev/null
[ $? = 3 ] || { echo "the copy is taken for the driver's own table"; failed=1; }
exit "$failed"
