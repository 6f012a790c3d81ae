#!/bin/sh
# SPDX-License-Identifier: MIT
# What run.sh --merge and result.awk make of results: results_test.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# rows FILE: lines of "PART SECTION|NAME|VALUE" become results
rows() {
	sed 's/ /\t/; s/|/\t/g' >"$work/$1.tsv"
}

merge() {
	sh "$here/run.sh" --merge --out "$work/out" --name all "$@" >"$work/said" 2>&1
}

# has TEXT WHY: in the Markdown
has() {
	grep -qF "$1" "$work/out/all.md" || { echo "$2: no line with '$1'"; failed=1; }
}

rows first <<'EOT'
environment environment|gpu|One GPU
facts facts|waits cudaFree|waits
facts parts|facts|complete, 3 s
gain gain lenet small|naive|9
EOT
rows second <<'EOT'
environment environment|gpu|One GPU
gain gain lenet small|naive|2.0
gain gain lenet small|rewritable|1.0
gain gain lenet small|naive+safe|1.2
gain gain lenet small predicted|naive+safe|1000
gain gain lenet small|naive|2.2
gain gain lenet small|rewritable|1.1
gain gain lenet small|naive+safe|1.0
gain gain lenet small|naive|2.1
gain gain lenet small|rewritable|1.2
gain gain lenet small|naive+safe|1.1
gain gain lenet small|tuned|1.00
gain gain lenet small|tuned+safe|1.02
gain failures|gain lenet small x|FAILED: status 3
copies copies|pinned-256K-8-loaders|50
copies copies|pageable-256K-8-loaders+staging|40.5
overhead overhead|mlp|1
overhead overhead|mlp+totals|1.004
EOT
merge "$work/first.tsv" "$work/second.tsv" || { echo "cannot be merged: $(cat "$work/said")"; failed=1; }
has '| gpu | One GPU |' 'the first file'
has '| waits cudaFree | waits |' 'a part that only the first file has'
has '| naive | 2.1 | 2 | 2.2 | 3 |' 'a part of both files: the last one counts'
has '| naive+safe | 1.1 | 1 | 1.2 | 3 | 0.5238 (0.4545 to 0.6000) | 1000.0 | 1000.0 | +0 % |' 'median, spread, ratio, gain and prediction'
has '95 % of the gap to rewritable | 100.0 % | yes |' 'the gap'
has '| gain lenet small tuned+safe: at most 1 % slower than tuned | 2.00 % | **no** |' 'a program that loses'
has ': 80 % of pinned | 81 % | yes |' 'the bandwidth'
has '| overhead mlp+totals: at most 0.3 % | 0.40 %' 'what watching costs'
grep -q '"reached":false' "$work/out/all.json" || { echo "the goals are not in the JSON"; failed=1; }
if command -v python3 >/dev/null; then
	python3 - "$work/out/all.json" <<'EOT' || failed=1
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    all = json.load(file)
row = all["gain lenet small"]["naive+safe"]
want = {"median": 1.1, "lowest": 1.0, "highest": 1.2, "rounds": 3, "gain_us": 1000, "predicted_us": 1000}
wrong = {key: row.get(key) for key in want if row.get(key) != want[key]}
if wrong:
    sys.exit(f"in the JSON there are {wrong}")
EOT
fi

sed 's/One GPU/Another/' "$work/first.tsv" >"$work/other.tsv"
merge "$work/first.tsv" "$work/other.tsv"
[ $? = 2 ] && grep -q 'several devices' "$work/said" || { echo "results of two devices: $(cat "$work/said")"; failed=1; }
exit "$failed"
