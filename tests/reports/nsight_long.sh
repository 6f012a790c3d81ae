#!/bin/sh
# SPDX-License-Identifier: MIT
# An export of Nsight Systems that is too long to be read whole: which part of it is. Memory that is
# not there beyond half a gibibyte shows that it does not grow with the file. nsight_long.sh TFSHIM
set -u
tfshim=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

python3 "$here/nsight.py" make-long || exit 1
limit=524288
! grep -q __asan_init "$tfshim" || limit=unlimited # its own map alone takes more
(ulimit -v "$limit" && exec "$tfshim" report --format json -o report.out long_run.sqlite) || exit 1
python3 "$here/nsight.py" compare report.out long || exit 1
echo "1 export compared, read in $limit KiB"
