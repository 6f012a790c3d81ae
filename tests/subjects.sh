#!/bin/sh
# SPDX-License-Identifier: MIT
# The subjects of the latest commits: "area: Verb the thing", at most 60 characters.
#
#   sh tests/subjects.sh [CHECKOUT]
set -eu

commits=50
most=60
# What came before was not looked at.
since=34319c2

cd "${1-$(dirname "$0")/..}"
git() {
	command git -c safe.directory='*' "$@"
}
# A tree that was exported may lie in another checkout.
if ! inside=$(git rev-parse --show-prefix 2>/dev/null) || [ -n "$inside" ]; then
	echo "not a git checkout: no subjects to look at"
	exit 77
fi
range=HEAD
! git rev-parse -q --verify "$since^{commit}" >/dev/null || range=$since..HEAD
subjects=$(git log --no-merges -n "$commits" --format='%h %s' "$range")
bad=$(echo "$subjects" | grep . | LC_ALL=C awk -v most="$most" '
	{
		subject = substr($0, index($0, " ") + 1)
		gsub(/[\200-\277]/, "", subject) # a character is its first byte
	}
	length(subject) > most { print "  " $0 " (" length(subject) " characters)" }
	subject !~ /^[A-Za-z][A-Za-z0-9_.,\/ -]*: [A-Z]/ { print "  " $0 " (no \"area: Verb the thing\")" }')
shallow=
[ "$(git rev-parse --is-shallow-repository)" != true ] || shallow=" of a shallow checkout"
echo "$(echo "$subjects" | grep -c .) subjects$shallow"
if [ -n "$bad" ]; then
	echo "not \"area: Verb the thing\" in at most $most characters:"
	echo "$bad"
	exit 1
fi
