#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, and twice; those of one program together, in both orders:
#
#   headers.sh ROOT CC FLAG...
set -eu

cd "$1"
compiler=$2
shift 2

# A file of these includes, and nothing else
unit() {
	sed 's/.*/#include "&"/'
	echo 'extern int unused;'
}

compiles() {
	$compiler "$@" -Wall -Wextra -Werror -fsyntax-only -x c -
}

failed=0
count=0
for header in $(find shim cupti rules reports tests -name '*.h' | sort); do
	count=$((count + 1))
	if ! printf '%s\n' "$header" "$header" | unit | compiles "$@"; then
		echo "$header does not compile alone"
		failed=1
	fi
done
echo "$count headers"

together=$(find shim cupti rules reports -name '*.h' | LC_ALL=C sort)
for order in 'sort' 'sort -r'; do
	# shellcheck disable=SC2086 # a command and its option
	if ! echo "$together" | LC_ALL=C $order | unit | compiles "$@"; then
		echo "all headers together do not compile, as by $order"
		failed=1
	fi
done
echo "$(echo "$together" | wc -l) together"
exit "$failed"
