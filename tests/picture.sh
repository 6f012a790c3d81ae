#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the README's picture anew from the demo's report: sh tests/demo.sh, then this. Run both in a
# checkout whose path may be shown.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
set -- "$root"/build/demo/lenet_naive-*.html
[ -f "$1" ] || { echo "run sh tests/demo.sh first" >&2; exit 1; }
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
	--window-size=1200,900 --screenshot="$root/reports/page/report.png" "file://$1"
