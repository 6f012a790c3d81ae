#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports never deny a rewrite that acted: of whole recordings, of recordings cut at any place, and
# of a killed program's. rewrite_told.sh LIBRARY PROGRAMS TFSHIM
set -u

library=$(realpath "$1")
programs=$(realpath "$2")
tfshim=$(realpath "$3")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
failed=0
reports=0
known=0

fail() {
	echo "rewrite_told.sh: $1"
	[ ! -s said ] || sed -n '/rewrite /p; /^FIXED FOR YOU/,/^FIX THESE/p; /^REWRITES/,/^RULES/p' said | head -n 20 | sed 's/^/  /'
	failed=1
}

record() { # NAME COMMAND...
	name=$1
	shift
	TFSHIM_OUTPUT="$out/$name" TFSHIM_OPTIONS="report=0:quiet=1:staging_cores=0:window=5:measure=0" \
		LD_PRELOAD="$library:$programs/../tools/stacks_first.so" timeout 100 "$@" >program 2>&1
}

# look FILE: what acted is said to have acted, or it is not known. A file with nothing in it is refused.
look() {
	reports=$((reports + 1))
	"$tfshim" report --format text "$1" >said 2>err || return 0
	if grep -q "pinned-staging: off\|FIXED FOR YOU nothing\|pinned-staging .*applied to 0 calls" said; then
		fail "$1: the report denies what pinned-staging did"
	fi
	if grep -q "pinned-staging .*applied to \(at least \)\{0,1\}[1-9][0-9,]* call" said; then
		known=$((known + 1))
	elif ! grep -q "FIXED FOR YOU not known:\|pinned-staging .*applied to at least" said; then
		fail "$1: the report is silent about pinned-staging"
	fi
}

record whole "$programs/rewrite_steps" 40 1024 || fail "the program fails: $(tail -n 3 program)"
look whole.tfs
[ "$known" = 1 ] || fail "a whole recording does not say what pinned-staging did"
bytes=$(wc -c <whole.tfs)
for tenth in 1 2 3 4 5 6 7 8 9; do
	head -c $((bytes * tenth / 10)) whole.tfs >cut.tfs
	look cut.tfs
done

# Killed in the midst of it.
TFSHIM_REWRITE=pinned-staging record killed sh -c "exec timeout -s KILL 1 '$programs/rewrite_steps' 100000 1024"
[ -s killed.tfs ] || fail "the killed program left no recording"
before=$known
look killed.tfs
[ "$known" -gt "$before" ] || fail "the killed program's recording does not say what pinned-staging did"

# Where it is known that nothing acted, that is said.
TFSHIM_REWRITE=off record off "$programs/rewrite_steps" 40 1024 || fail "the program fails: $(tail -n 3 program)"
"$tfshim" report --format text off.tfs >said 2>err
grep -q "applied to at least\|pinned-staging: not known" said && fail "a whole recording of a run without rewrites does not say so"

[ "$reports" -ge 11 ] || fail "only $reports reports were looked at"
echo "$reports reports looked at, $known say what was applied"
exit "$failed"
