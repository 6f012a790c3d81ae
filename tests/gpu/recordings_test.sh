#!/bin/sh
# SPDX-License-Identifier: MIT
# Does recordings.sh see what it is for? On a recording of the simulated device, which is never
# kept: recordings_test.sh BUILD. Putting a recording there must be enough for it to be read.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 kept=$work/kept

# says STATUS PATTERN WHY
says() {
	sh "$here/recordings.sh" "$build/reports/tfshim" "$kept" >"$work/said" 2>&1
	status=$?
	if [ "$status" != "$1" ] || ! grep -q "$2" "$work/said"; then
		echo "$3: status $status, not $1, and this, not '$2':"
		sed 's/^/  /' "$work/said"
		failed=1
	fi
}

mkdir "$kept"
says 77 '^skipped: no recordings' 'an empty folder'
LD_LIBRARY_PATH=$build/tests/sim LD_PRELOAD=$build/shim/libtfshim.so:$build/tests/tools/stacks_first.so TFSIM_PACE=0 TFSHIM_OUTPUT="$kept/one" \
	TFSHIM_OPTIONS=window=25:limit=1000k:quiet=1:report=0 TFSHIM_REWRITE=report timeout 60 \
	"$build/tests/trainers/lenet_naive" --data "$build/tests/trainers/digits-set" --steps 60 --quiet >"$work/out" 2>&1 ||
	{ tail -n 3 "$work/out" && exit 1; }
says 0 '^TFS101 violated 2$' 'a recording alone'
sh "$here/recordings.sh" "$build/reports/tfshim" "$kept" --write >/dev/null
says 0 '^1 recordings$' 'a recording and its rules'
sed -i 's/^TFS101 violated.*/TFS101 passed/' "$kept/one.rules"
says 1 '^one: the rules say something else' 'other rules'
sh "$here/recordings.sh" "$build/reports/tfshim" "$kept" --write >/dev/null
sed -i 's/^check .*/check 0/' "$kept/one.rules"
says 1 '^< check 0' 'another status'
sh "$here/recordings.sh" "$build/reports/tfshim" "$kept" --write >/dev/null
cp "$kept/one.rules" "$kept/two.rules"
says 1 '^two.rules is of no recording' 'rules alone'
echo nothing >"$kept/two.tfs"
says 1 '^two cannot be judged' 'no recording'
head -c 1048577 /dev/zero >"$kept/two.tfs"
says 1 '^two: 1048577 bytes, more than' 'too large a recording'
exit "$failed"
