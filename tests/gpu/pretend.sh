#!/bin/sh
# SPDX-License-Identifier: MIT
# The suite as on hardware, on the simulated device, so that no mistake of the scripts has to wait
# for a GPU to be found: pretend.sh BUILD. Only the programs with a runtime linked in may fail.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

mkdir "$work/bin"
printf '#!/bin/sh\necho "simulated, 1, 2"\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
PATH=$work/bin:$PATH GPU_PRETEND=1 sh "$here/run.sh" --simulated --quick --build "$build" --out "$work/out" --name all >"$work/said" 2>&1
grep -q '^gpu\|^written: ' "$work/said" || { cat "$work/said" && exit 1; }
for part in "$here"/parts/*.sh; do
	part=${part##*/}
	grep -q "^${part%.sh}	parts	${part%.sh}	complete, " "$work/out/all.tsv" || { echo "${part%.sh} is not complete"; failed=1; }
done
if grep '	FAILED' "$work/out/all.tsv" | grep -v '801: operation not supported\|_static\|-static'; then
	failed=1
fi
# What a shell says of a script that is wrong, and of a tool that is not there.
if grep -n '^[^ ]*parts/[a-z]*\.sh: \|case\.sh: [0-9]*:\|common\.sh: [0-9]*:\|awk: \|sed: -e' "$work/out/all.log"; then
	failed=1
fi
head -n 1 "$work/out/all.md" | grep -q 'simulated device' || { echo "the result does not say that it is none"; failed=1; }
exit "$failed"
