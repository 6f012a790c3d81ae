#!/bin/sh
# SPDX-License-Identifier: MIT
# After an abnormal end with a rewrite on, the next start leaves rewrites off and says so; after any
# other end it does not: breaker.sh LIBRARY TFSHIM PROGRAMS
set -u

library=$(realpath "$1") tfshim=$(realpath "$2") programs=$(realpath "$3")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0 done=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# start NAME ENVIRONMENT ARGUMENT...: in the folder "here", recording to NAME.tfs
start() {
	name=$1 environment=$2
	shift 2
	rm -f "$out/here/$name.tfs"
	done=$((done + 1))
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/here/$name" TFSIM_PACE=0 \
		TFSHIM_OPTIONS="report=0:record=none:measure=0:staging_cores=0" \
		TFSHIM_REWRITE=off,pinned-staging $environment LD_PRELOAD="$library" \
		timeout 100 "$programs/rewrite_ending" "$@" >"$out/$name.said" 2>&1
}

# is NAME on|off: what it did, what it said, what the report says
is() {
	applied=$("$programs/ledger" "$out/here/$1.tfs" | sed -n 's/^pinned-staging applied //p' | tail -n 1)
	state=$("$programs/ledger" "$out/here/$1.tfs" | sed -n 's/^pinned-staging state //p' | tail -n 1)
	case $2-$applied-$state in
	on-[1-9]*-apply*) ! grep -q "rewrites are off" "$out/$1.said" || fail "$1: said to be off" ;;
	off-0-"off "*"an earlier run ended abnormally"*"delete $out/here/rewrite_ending.rewrites-off"*)
		[ "$(grep -c "rewrites are off, as an earlier .* delete .*rewrites-off" "$out/$1.said")" = 1 ] ||
			fail "$1: not said in one line: $(cat "$out/$1.said")" ;;
	*) fail "$1: not $2, but applied $applied times, state '$state'" ;;
	esac
}

# clean: nothing of ours lies in the folder but recordings
clean() {
	left=$(find "$out/here" -name 'rewrite_ending*')
	[ -z "$left" ] || fail "$1 leaves $left"
}

again() {
	rm -rf "$out/here"
	mkdir "$out/here"
}

# Ends that somebody wished.
for way in return _exit _Exit quick_exit thread chained children again int term hup; do
	again
	start first "TFSHIM_OUTPUT=$out/here/first-%n" $way
	status=$?
	case $way-$status in
	int-130 | term-143 | hup-129 | [a-z_]*-0) ;;
	*-124 | *-125) # timeout's own words for a signal that it passes on
		fail "$way: status $status" ;;
	*) fail "$way: status $status: $(tail -n 3 "$out/first.said")" ;;
	esac
	clean "$way"
	start second "" return || fail "$way: the next run fails"
	is second on
done

# Abnormal ones. The next start is off, and so is each until the file is deleted.
for way in abort segv kill children-abort; do
	again
	start first "" $way
	[ $? -gt 128 ] || fail "$way ends in another way"
	[ "$(find "$out/here" -name 'rewrite_ending.acting-*' | wc -l)" = 1 ] || fail "$way: no mark"
	start asked-off TFSHIM_REWRITE=off return
	! grep -q "rewrites are off" "$out/asked-off.said" || fail "$way: said though nothing was to act"
	for next in second third; do
		start $next "" return || fail "$way: the next run fails"
		is $next off
	done
	"$tfshim" report "$out/here/third.tfs" 2>&1 | tr -s ' \n' ' ' |
		grep -q "an earlier run ended abnormally" || fail "$way: the report does not say so"
	rm "$out/here/rewrite_ending.rewrites-off"
	start fourth "" return
	is fourth on
	clean "$way"
done

# Off before it began: that no rewrite acted is no reason.
again
start first TFSHIM_REWRITE=off kill
start second "" return
is second on

# All ranks, that start at once; one of them says it.
again
start first "RANK=1 WORLD_SIZE=4" abort
for rank in 0 1 2 3; do
	start "rank$rank" "RANK=$rank WORLD_SIZE=4" return &
done
wait
is rank0 off
for rank in 1 2 3; do
	[ "$("$programs/ledger" "$out/here/rank$rank.tfs" | sed -n 's/^pinned-staging applied //p')" = 0 ] ||
		fail "rank $rank is on"
	! grep -q "rewrites are off" "$out/rank$rank.said" || fail "rank $rank says it too"
done

# One that runs meanwhile is no crash; when it is killed it is.
again
start first "" wait "$out/go" &
while [ -z "$(find "$out/here" -name 'rewrite_ending.acting-*')" ]; do sleep 0.01; done
for name in second third; do
	start $name "" return
	is $name on
done
touch "$out/go"
wait
clean "one that ran meanwhile"
rm "$out/go"

# What processes elsewhere left, whose numbers mean nothing here: in other containers this process
# may have the same one. A lock says that one lives.
elsewhere=rewrite_ending.acting-1-5-abc
for age in now "1 minute ago"; do
	again
	touch -d "$age" "$out/here/$elsewhere"
	flock "$out/here/$elsewhere" true # can be locked
	flock "$out/here/$elsewhere" sh -c 'touch "$0/locked"; while [ -e "$0/locked" ]; do sleep 0.01; done' "$out" &
	while [ ! -e "$out/locked" ]; do sleep 0.01; done
	start locked "" return
	is locked on
	rm "$out/locked"
	wait
	start unlocked "" return
	case $age in
	now) is unlocked on ;; # it may not have its lock yet
	*) is unlocked off ;;
	esac
done

# Links, pipes and folders in the files' places are not followed, nor waited for.
again
mkfifo "$out/here/$elsewhere"
ln -s "$out/nowhere" "$out/here/rewrite_ending.acting-2-5-abc"
mkdir "$out/here/rewrite_ending.acting-3-5-abc"
touch "$out/here/rewrite_ending.acting-" "$out/here/rewrite_ending.acting-1-2-3-4" \
	"$out/here/rewrite_ending.acting-99999999999-1-1" "$out/here/rewrite_ending2.acting-1-5-abc"
start planted "" return
is planted on
for plant in mkfifo mkdir "ln -s $out/nowhere"; do
	again
	$plant "$out/here/rewrite_ending.rewrites-off"
	start planted "" return || fail "$plant: the program notices"
	is planted off
	[ ! -e "$out/nowhere" ] || fail "$plant: followed"
done
echo "$done starts"
exit "$failed"
