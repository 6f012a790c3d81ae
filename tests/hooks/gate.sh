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

# explained TITLE FILE...: what is in $out/all and not in $out/hooked fits a pattern of these files,
# one a line with the reasons for it in comments, and no pattern is idle.
explained() {
	title=$1
	shift
	comm -23 "$out/all" "$out/hooked" >"$out/left"
	cat "$@" | grep -v '^#' | grep . >"$out/patterns"
	: >"$out/used"
	while read -r name; do
		while read -r pattern; do
			# shellcheck disable=SC2254
			case $name in $pattern) echo "$pattern" >>"$out/used" && continue 2 ;; esac
		done <"$out/patterns"
		echo "$name"
	done <"$out/left" >"$out/unsaid"
	gate "neither hooked nor said why not ($title)" "$out/unsaid"
	sort -u "$out/used" >"$out/fitting"
	sort -u "$out/patterns" | comm -23 - "$out/fitting" >"$out/idle"
	gate "patterns of $title that nothing fits" "$out/idle"
}
