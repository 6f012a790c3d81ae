#!/bin/sh
# SPDX-License-Identifier: MIT
# After a crash with a rewrite on, or two ends in a row of which nobody knows what they were, the next
# start leaves rewrites off and says so; after any other end it does not. No signal has a handler that
# the program did not give it, or it ends with 3: breaker.sh LIBRARY TFSHIM PROGRAMS
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

# start_run: the same under "tfshim run"
start_run() {
	name=$1 environment=$2
	shift 2
	rm -f "$out/here/$name.tfs"
	done=$((done + 1))
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/here/$name" TFSIM_PACE=0 \
		TFSHIM_OPTIONS="report=0:record=none:measure=0:staging_cores=0" \
		TFSHIM_REWRITE=off,pinned-staging $environment \
		timeout 100 "$tfshim" run -- $wrapper "$programs/rewrite_ending" "$@" \
		>"$out/$name.said" 2>&1
}
wrapper=

# is NAME on|off: what it did, what it said, what the report says
is() {
	applied=$("$programs/../tools/ledger" "$out/here/$1.tfs" | sed -n 's/^pinned-staging applied //p' | tail -n 1)
	state=$("$programs/../tools/ledger" "$out/here/$1.tfs" | sed -n 's/^pinned-staging state //p' | tail -n 1)
	case $2-$applied-$state in
	on-[1-9]*-apply*) ! grep -q "rewrites are off" "$out/$1.said" || fail "$1: said to be off" ;;
	off-0-"off "*"an earlier run ended abnormally"*"delete $out/here/rewrite_ending.rewrites-off"*)
		[ "$(grep -c "rewrites are off, because an earlier .* delete .*rewrites-off" "$out/$1.said")" = 1 ] ||
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

# ended WAY STATUS: as it should, by what the shell has of it
ended() {
	case $1-$2 in
	int-130 | term-143 | hup-129 | alrm-142 | kill-137 | abort-134 | children-abort-134 | segv-139 | \
		bus-135 | fpe-136 | ill-132 | status-9) ;;
	*-124 | *-125) fail "$1: status $2" ;; # timeout's own words
	int-* | term-* | hup-* | alrm-* | kill-* | *abort-* | segv-* | bus-* | fpe-* | ill-* | status-* | *-[1-9]*)
		fail "$1: status $2: $(tail -n 3 "$out/first.said")" ;;
	esac
}

marks() {
	[ "$(find "$out/here" -name "rewrite_ending.$1" | wc -l)" = "$2" ] ||
		fail "$3: not $2 of $1, but $(find "$out/here" -name 'rewrite_ending.*')"
}

# Orderly ends.
for way in return _exit _Exit quick_exit thread chained children again status; do
	for start in start start_run; do
		again
		$start first "TFSHIM_OUTPUT=$out/here/first-%n" $way
		ended $way $?
		clean "$way"
		$start second "" return || fail "$way: the next run fails"
		is second on
	done
done

# Ends of which the process itself leaves no word: one is none, and none of two with an orderly one
# between them; after two the next start is off, and so is each until the file is deleted.
for way in int term hup alrm kill abort children-abort segv bus fpe ill unseen; do
	again
	start first "" $way
	ended $way $?
	marks 'acting-*' 1 "$way"
	start asked-off TFSHIM_REWRITE=off return
	marks 'acting-*' 1 "$way, then off"
	start second "" return || fail "$way: the next run fails"
	is second on
	clean "$way, then orderly"
	start third "" $way
	start fourth "" $way
	ended $way $?
	marks 'acting-*-again' 1 "$way, twice"
	marks unfinished 1 "$way, twice"
	start asked-off TFSHIM_REWRITE=off return
	! grep -q "rewrites are off" "$out/asked-off.said" || fail "$way: said though nothing was to act"
	for next in fifth sixth; do
		start $next "" return || fail "$way: the next run fails"
		is $next off
	done
	marks unfinished 0 "$way, then off"
	"$tfshim" report "$out/here/sixth.tfs" 2>&1 | tr -s ' \n' ' ' |
		grep -q "an earlier run ended abnormally" || fail "$way: the report does not say so"
	rm "$out/here/rewrite_ending.rewrites-off"
	start seventh "" return
	is seventh on
	clean "$way, then deleted"
done

# "tfshim run" knows more: a crash counts at once,
for way in abort children-abort segv bus fpe ill; do
	again
	start_run first "" $way
	ended $way $?
	marks rewrites-off 1 "run, $way"
	marks 'acting-*' 0 "run, $way"
	for start in start start_run; do
		$start second "" return || fail "run, $way: the next run fails"
		is second off
	done
done
# what somebody wished not at all,
for way in int term hup alrm unseen; do
	again
	for name in first second third; do
		start_run $name "" $way
		ended $way $?
		is $name on
		clean "run, $way"
	done
done
# and kill -9, which may end what hangs, like any end that it does not see itself.
again
for name in first second; do
	start_run $name "" kill
	ended kill $?
	is $name on
done
start_run third "" return
is third off
again
printf '#!/bin/sh\n"$@"\nexit 0\n' >"$out/wrapper"
chmod +x "$out/wrapper"
wrapper=$out/wrapper
for name in first second; do
	start_run $name "" segv || fail "run, wrapped: status $?"
	is $name on
done
start_run third "" return
is third off
wrapper=

# Where no mark can be made it is said, and the program runs the same.
mkdir "$out/l"
long=$(printf '%0230d' 0)
cp "$programs/rewrite_ending" "$out/l/$long"
env TFSHIM_OUTPUT="$out/l/x" TFSIM_PACE=0 TFSHIM_OPTIONS="report=0:record=none:measure=0:staging_cores=0" \
	TFSHIM_REWRITE=off,pinned-staging LD_PRELOAD="$library" LD_LIBRARY_PATH="$programs/../sim" \
	"$out/l/$long" return >"$out/long.said" 2>&1 || fail "no mark: the program fails"
done=$((done + 1))
[ "$(grep -c "a crash will not switch rewrites off: no marker file can be written" "$out/long.said")" = 1 ] ||
	fail "no mark: not said: $(cat "$out/long.said")"
"$tfshim" report "$out/l/x.tfs" >/dev/null 2>&1
grep -q "a crash will not switch rewrites off" "$out/l/x.txt" ||
	fail "no mark: the report does not say so"

# Off before it began: that no rewrite acted is no reason.
again
start first TFSHIM_REWRITE=off kill
start second "" return
is second on

# All ranks, that start at once. All that end together count once; when all are off, one says it.
again
ranks() {
	for rank in 0 1 2 3; do
		start "rank$rank" "RANK=$rank WORLD_SIZE=4" "$@" &
	done
}
for run in 1 2; do
	rm -f "$out/go"
	ranks wait "$out/go" abort
	while [ "$(find "$out/here" -name 'rewrite_ending.acting-*' | wc -l)" != 4 ]; do sleep 0.01; done
	touch "$out/go"
	wait
done
rm "$out/go"
ranks return
wait
is rank0 off
for rank in 1 2 3; do
	[ "$("$programs/../tools/ledger" "$out/here/rank$rank.tfs" | sed -n 's/^pinned-staging applied //p')" = 0 ] ||
		fail "rank $rank is on"
	! grep -q "rewrites are off" "$out/rank$rank.said" || fail "rank $rank says it too"
done

# One that runs meanwhile is no crash.
again
start first "" wait "$out/go" return &
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
elsewhere=rewrite_ending.acting-1-5-abc-again
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
	"$out/here/rewrite_ending.acting-99999999999-1-1" "$out/here/rewrite_ending.acting-1-2-3-agai" \
	"$out/here/rewrite_ending.acting-1-2-3again" "$out/here/rewrite_ending2.acting-1-5-abc"
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
