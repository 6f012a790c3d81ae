# SPDX-License-Identifier: MIT
# What the checks of hooks against lists begin with; sourced. Gives $out, a folder to work in, and
# $failed.
# shellcheck shell=sh disable=SC2034
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
unset LD_PRELOAD TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_DISABLE
LC_ALL=C
export LC_ALL
failed=0

# gate TITLE FILE: passes when the file is empty
gate() {
	[ -s "$2" ] || return 0
	echo "$1:"
	head -n 20 "$2" | sed 's/^/  /'
	failed=1
}
