#!/bin/sh
# SPDX-License-Identifier: MIT
# The gates of style that a machine can keep.
#
#   sh tests/style.sh                   report; status 1 when a gate fails
#   sh tests/style.sh --fix [FILE...]   let clang-format rewrite these, or all, C files
set -u

cd "$(dirname "$0")/.." || exit 1
if ! files=$(git -c safe.directory='*' ls-files -co --exclude-standard -- ':!tests/fuzz/corpus' ':!tests/golden' 2>/dev/null); then
	echo "not a git checkout: no list of files to check"
	exit 77
fi
sources=$(echo "$files" | grep -E '\.[ch]$' || true)
c_like=$(echo "$files" | grep -E '\.(c|h|cu)$' || true)
text=$(echo "$files" | grep -vE '\.(png|gz|tfs)$' | while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
failed=0
# The layout that counts is that of one version.
formatter=
for name in clang-format-14 clang-format; do
	if [ -z "$formatter" ] && $name --version 2>/dev/null | grep -q 'version 14\.'; then
		formatter=$name
	fi
done

if [ "${1-}" = --fix ]; then
	[ -n "$formatter" ] || { echo "clang-format 14 is not installed" >&2; exit 1; }
	shift
	# shellcheck disable=SC2086 # lists of words: no tracked name holds a blank
	[ $# -gt 0 ] || set -- $sources
	exec "$formatter" -i "$@"
fi

# gate TITLE LINES: passes when there are no lines
gate() {
	if [ -n "$2" ]; then
		echo "$1:"
		echo "$2" | head -n 40 | sed 's/^/  /'
		failed=1
	fi
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The code of all files without comments and literals, as file:line:text, to bare; to marks the lines
# that open a line comment.
# shellcheck disable=SC2086 # as above
awk -v bare="$scratch/bare" -v marks="$scratch/marks" '
	FNR == 1 { inside = 0 }
	{
		line = FILENAME ":" FNR ":"
		if (!inside && $0 !~ /["\047\/]/) {
			if ($0 != "") print line $0 >bare
			next
		}
		out = ""; quote = ""; n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1); two = substr($0, i, 2)
			if (inside) { if (two == "*/") { inside = 0; i++ } }
			else if (quote != "") { if (c == "\\") i++; else if (c == quote) quote = "" }
			else if (two == "/*") { inside = 1; i++ }
			else if (two == "//") { print line $0 >marks; break }
			else if (c == "\"" || c == "\047") quote = c
			else out = out c
		}
		if (out != "") print line out >bare
	}' /dev/null $c_like

# bare PATTERN: the bare lines of the files whose paths match
bare() {
	[ ! -f "$scratch/bare" ] || awk -F: -v wanted="$1" '$1 ~ wanted' "$scratch/bare"
}

ends_badly() {
	for f in $text; do
		case $f in *.in) continue ;; esac
		[ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || echo "$f"
	done
}

# shellcheck disable=SC2086 # as above
unlicensed() {
	awk 'FNR <= 3 && /SPDX-License-Identifier: MIT/ { said[FILENAME] }
		END {
			for (i = 1; i < ARGC; i++)
				if (!(ARGV[i] in said) && ARGV[i] !~ /^(\/dev\/null|LICENSE)$|\.(md|json|in|rules)$|(^|\/)\.(clang-format|gitignore)$/)
					print ARGV[i]
		}' /dev/null $text
}

# shellcheck disable=SC2086 # as above
too_long() {
	wc -l /dev/null $c_like | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 }'
}

# Where != NULL makes a truth value that is kept, returned or passed on, it stays.
null_tests() {
	bare . | grep -E -e '== *NULL' -e 'NULL *[!=]=' -e '!= *NULL *(&&|[|][|]|[?])' \
		-e '!= *NULL[)] *([{] *)?$' -e '(&&|[|][|]) *[^ ,&|]+ != *NULL' \
		-e 'TEST_(TRUE|NEED)[(].* != *NULL[)]' -e 'for [(].*;[^;,]* != *NULL *;'
}

# "err" is 0 or a negative errno; an errno as the system gives it may be called "error".
error_names() {
	bare '^(shim|cupti|rules|reports|tests/(unit|reports|bench|fuzz))/' |
		grep -E -e '(^|[^[:alnum:]_])int (failed|failure|result|rc|ret|retval)( =|;)' \
		-e '(^|[^[:alnum:]_])int error = ' | grep -v ' = errno;'
}

# shellcheck disable=SC2086 # as above
gate "trailing blanks" "$(grep -nE '[[:blank:]]+$' /dev/null $text)"
gate "no newline at the end" "$(ends_badly)"
gate "no 'SPDX-License-Identifier: MIT' in the first three lines" "$(unlicensed)"
gate "longer than 800 lines" "$(too_long)"
# shellcheck disable=SC2086 # as above
gate "paths of one machine" "$(grep -nE \
	'(^|[^[:alnum:]_.])/(wor[k]|roo[t]|hom[e])/[[:alnum:]]|/tmp/bas[h]_jobs' /dev/null $text)"
gate "line comments (they mark what must not be committed)" "$(cat "$scratch/marks" 2>/dev/null)"
gate "calls that the traced process must not make" "$(bare '^(shim|cupti)/' | grep -E \
	'(^|[^[:alnum:]_.>])(exit|abort|assert|printf|puts|putchar|perror|sleep|usleep)[[:blank:]]*\(')"
gate "functions looked up past the table of shim/resolve/direct.h" \
	"$(bare '^(shim|cupti)/' | grep -v '^shim/resolve/' |
		grep -E '(^|[^[:alnum:]_])tfs_lookup_named[[:blank:]]*\(')"
gate "a pointer compared with NULL where p or !p says it" "$(null_tests)"
gate "an error variable that is not called err" "$(error_names)"
if [ -n "$formatter" ]; then
	# shellcheck disable=SC2086 # as above
	gate "layout (sh tests/style.sh --fix)" \
		"$($formatter --dry-run --Werror $sources </dev/null 2>&1 |
			awk -F: '/: error: / && seen[$1]++ < 2')"
fi

[ "$failed" = 0 ] || exit 1
if [ -z "$formatter" ]; then
	echo "all but the layout is right; clang-format 14 is not installed"
	exit 77
fi
