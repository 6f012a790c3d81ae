# SPDX-License-Identifier: MIT
# For the scripts that try tfshim, with what it last wrote in the files out and err; sourced.
# shellcheck shell=sh disable=SC2034
failed=0

wrong() {
	echo "${0##*/}: $1"
	[ ! -s out ] || sed 's/^/  out: /' out | head -n 20
	[ ! -s err ] || sed 's/^/  err: /' err | head -n 20
	failed=1
}
