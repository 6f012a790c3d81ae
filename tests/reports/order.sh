#!/bin/sh
# SPDX-License-Identifier: MIT
# A wait of one stream for another in other tools' traces, and what the replay makes of it: order.sh
# PROGRAM [SQLITE]
set -u
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
replays=0

# replays TRACE STREAM MS: with the work of a stream halved, a step takes so much less
replays() {
	"$program" "$@" >out 2>&1 || {
		wrong "$*"
		head -n 5 out
	}
	replays=$((replays + 1))
}

python3 "$here/order.py" || exit 1
for trace in known.json through.json ${2:+known.sqlite through.sqlite older.sqlite}; do
	replays "$trace" 17 2
	replays "$trace" 13 2
	# It is over before the others are.
	replays "$trace" 20 0
done
# Where it is not known which event the wait is for, the second stream's work stays where it was.
for trace in unknown.json ${2:+unknown.sqlite}; do
	replays "$trace" 17 0
	replays "$trace" 13 2
done
echo "$replays replays"
exit "$failed"
