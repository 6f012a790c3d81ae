#!/bin/sh
# SPDX-License-Identifier: MIT
# What tests/subjects.sh says of checkouts made for it.
set -eu

command -v git >/dev/null || { echo "git is not installed"; exit 77; }
script=$(cd "$(dirname "$0")" && pwd)/subjects.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
looked=0

commit() {
	git -C "$dir/checkout" -c user.name=x -c user.email=x@x commit -q --allow-empty -m "$1"
}

# expect STATUS WORDS [CHECKOUT]
expect() {
	status=0
	said=$(sh "$script" "${3-$dir/checkout}") || status=$?
	looked=$((looked + 1))
	case $status:$said in
	$1:*"$2"*) ;;
	*)
		echo "status $status, wanted $1 with '$2':"
		echo "$said"
		exit 1
		;;
	esac
}

mkdir -p "$dir/checkout/exported"
expect 77 "not a git checkout"
git -C "$dir/checkout" init -q
commit "tests: Begin"
expect 0 "1 subjects"
expect 77 "not a git checkout" "$dir/checkout/exported"
# Of 60 characters, one of them of two bytes.
commit "rules: Say µs where a microsecond is meant, and nothing else"
expect 0 "2 subjects"
commit "rules: Say us where a microsecond is meant, and nothing elses"
expect 1 "(61 characters)"
commit "tests: End"
git clone -q --depth 1 "file://$dir/checkout" "$dir/shallow"
expect 0 "1 subjects of a shallow checkout" "$dir/shallow"
commit "a word without an area"
git clone -q --depth 1 "file://$dir/checkout" "$dir/formless"
expect 1 "no \"area: Verb the thing\"" "$dir/formless"
i=0
while [ $((i += 1)) -le 50 ]; do
	commit "tests: Say $i"
done
expect 0 "50 subjects"
echo "$looked checkouts"
