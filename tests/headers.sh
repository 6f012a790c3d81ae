#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, and twice: headers.sh ROOT CC FLAG...
set -eu

cd "$1"
compiler=$2
shift 2
failed=0
count=0
for header in $(find shim cupti rules reports tests -name '*.h' | sort); do
	count=$((count + 1))
	if ! printf '#include "%s"\n#include "%s"\nextern int unused;\n' "$header" "$header" |
		$compiler "$@" -Wall -Wextra -Werror -fsyntax-only -x c -; then
		echo "$header does not compile alone"
		failed=1
	fi
done
echo "$count headers"
exit "$failed"
