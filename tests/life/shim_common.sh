# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2034 # $shim, $programs, $failed are shared
# For the scripts shim_*.sh, which run programs with and without the shim and compare. Sourced with
# $shim (the library) and $programs (their folder) set; leaves $work, which goes at the end, and
# $failed. TFSHIM_CHECK_REPORT=1 lets the reports be made too.

case $shim in /*) ;; *) shim=$PWD/$shim ;; esac
tfshim=$(dirname "$shim")/../reports/tfshim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# For watched: preloads before and after the shim, and where to record.
before=
after=
output=
unset LD_PRELOAD TFSHIM_OUTPUT TFSHIM_REWRITE TFSHIM_LOG TFSHIM_DISABLE
export TFSIM_PACE=0 TFSIM_SCALE=1

fail() {
	echo "FAILED: $*"
	failed=1
}

skip() {
	echo "skipped: $*"
	exit 77
}

# bare NAME COMMAND...: into NAME.out, NAME.err, NAME.status
bare() {
	name=$1
	shift
	timeout -k 5 100 "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null
	echo $? >"$work/$name.status"
}

# watched NAME OPTIONS COMMAND...: the same with the shim, recording into NAME.tfs
watched() {
	name=$1
	options=$2
	shift 2
	rm -f "$work/$name.tfs"
	bare "$name" env LD_PRELOAD="${before:+$before }$shim${after:+ $after}" TFSHIM_REWRITE=off \
		TFSHIM_OUTPUT="${output:-$work/$name}" \
		TFSHIM_OPTIONS="report=${TFSHIM_CHECK_REPORT:-0}:quiet=1${options:+:$options}" "$@"
}

# kept NAME OPTIONS COMMAND...: the same by tfshim run
kept() {
	name=$1
	options=$2
	shift 2
	rm -f "$work/$name.tfs"
	bare "$name" env TFSHIM_REWRITE=off "$tfshim" run --no-report -o "${output:-$work/$name}" \
		-O "quiet=1${options:+:$options}" -- "$@"
}

# What may differ: times, the simulated device's own timing, our own lines.
comparable() {
	grep -vE '^(time|tfsim|tfshim)' "$1"
}

# same NAME BARE: are both runs the same to the user?
same() {
	for part in out err; do
		comparable "$work/$1.$part" >"$work/one"
		comparable "$work/$2.$part" >"$work/other"
		if ! cmp -s "$work/one" "$work/other"; then
			fail "$1: std$part differs from $2's"
			diff "$work/other" "$work/one" | head -n 10
		fi
	done
	[ "$(cat "$work/$1.status")" = "$(cat "$work/$2.status")" ] ||
		fail "$1 ends with $(cat "$work/$1.status"), $2 with $(cat "$work/$2.status")"
}

# compare NAME OPTIONS COMMAND...: runs it both ways
compare() {
	compared=$1
	options=$2
	shift 2
	bare "$compared-bare" "$@"
	watched "$compared" "$options" "$@"
	same "$compared" "$compared-bare"
}

# look NAME: reads its recording into NAME.look
look() {
	if [ ! -f "$work/$1.tfs" ]; then
		fail "$1: no recording"
		: >"$work/$1.look"
	elif ! "$programs/../life/shim_trace" "$work/$1.tfs" >"$work/$1.look"; then
		fail "$1: the recording cannot be read"
		grep -E 'damage| at ' "$work/$1.look" | head -n 5
	fi
}

# value NAME KEY...: from what was looked up; 0 when it is not there
value() {
	file=$work/$1.look
	shift
	awk -v key="$*" 'index($0, key " ") == 1 { print substr($0, length(key) + 2); found = 1; exit }
		END { if (!found) print 0 }' "$file"
}

# expect NAME KEY... VALUE
expect() {
	expected=$1
	shift
	want=
	key=
	for word; do
		key="$key${want:+${key:+ }$want}"
		want=$word
	done
	# shellcheck disable=SC2086 # a key may be two words
	got=$(value "$expected" $key)
	[ "$got" = "$want" ] || fail "$expected: $key is $got, not $want"
}

# says NAME TEXT: on standard output
says() {
	grep -qF -- "$2" "$work/$1.out" || {
		fail "$1 does not say: $2"
		head -n 5 "$work/$1.out"
	}
}
