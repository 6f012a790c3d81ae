#!/bin/sh
# SPDX-License-Identifier: MIT
# Without a GPU the suite says so, ends with 77 and leaves nothing behind: none.sh BUILD
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

wrong() {
	echo "none.sh: $1"
	[ ! -s "$folder/said" ] || sed 's/^/  /' "$folder/said"
	failed=1
}

# What a run could leave something in.
places() {
	for place in "$here/results" "$here/recordings" "$build/tests/sim"; do
		[ ! -e "$place" ] || find "$place" -maxdepth 0 -printf '%p %y %l\n'
	done
	find "$here" "$folder/tmp" ! -type d -newer "$folder/start"
	find "$folder/tmp" -mindepth 1
}

# none WHY: with the tool in $folder/bin, if there is one, before the machine's own
none() {
	PATH=$folder/bin:$PATH TMPDIR=$folder/tmp timeout 60 sh "$here/run.sh" --build "$build" >"$folder/said" 2>&1
	status=$?
	[ "$status" = 77 ] || wrong "$1: it ended with $status, not 77"
	grep -qx 'skipped: no NVIDIA GPU on this machine (nvidia-smi -L lists none)' "$folder/said" || wrong "$1: it does not say why"
	[ "$(wc -l <"$folder/said")" = 1 ] || wrong "$1: it says more than that"
	places >"$folder/after"
	cmp -s "$folder/before" "$folder/after" || {
		wrong "$1: it left something behind"
		diff "$folder/before" "$folder/after"
	}
}

mkdir "$folder/tmp" "$folder/bin"
: >"$folder/start"
places >"$folder/before"
# A machine with the tool but no device; a driver that does not answer.
printf '#!/bin/sh\necho "No devices were found"\nexit 6\n' >"$folder/bin/nvidia-smi"
chmod +x "$folder/bin/nvidia-smi"
none 'no device'
printf '#!/bin/sh\necho "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."\nexit 9\n' >"$folder/bin/nvidia-smi"
none 'no driver'
printf '#!/bin/sh\necho "Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error"\n' >"$folder/bin/nvidia-smi"
none 'a lost device'
rm "$folder/bin/nvidia-smi"
command -v nvidia-smi >/dev/null || none 'no nvidia-smi'
exit "$failed"
