#!/bin/sh
# SPDX-License-Identifier: MIT
# What cudnn-search decides stays decided: throughout a run, and in all later ones; a program that
# tries what works is told what it would be told without us. In the modes a user gets by default.
#	rewrite_decisions.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2
. "${0%/*}/rewrite_base.sh"
decide_seeds="2 3"
[ "${TFSHIM_LONG:-0}" = 1 ] && decide_seeds=$(seq 1 30)
compared=0 some=0 environment='' blocks='' # of 512 bytes, for a file

# go NAME CASE [PROGRAM]: under the library, recording to $out/NAME.tfs, with $out/decisions; it has
# the patience that a device on busy cores needs
go() {
	rm -f "$out/$1.tfs"
	(
		[ -z "$blocks" ] || ulimit -f "$blocks"
		# shellcheck disable=SC2086
		exec env TFSIM_PACE=0 TFSHIM_OUTPUT="$out/$1" TFSHIM_DECISIONS="$out/decisions" \
			TFSHIM_OPTIONS=report=0:quiet=1:search_ms=100000 LD_PRELOAD="$(with "")" $environment \
			timeout 100 "$programs/${3:-rewrite_decide}" "$2" >"$out/$1.out" 2>"$out/$1.err"
	)
	status=$?
	done=$((done + 1))
	return $status
}

plain() { # NAME CASE [PROGRAM]: without the library
	# shellcheck disable=SC2086
	env TFSIM_PACE=0 $environment timeout 100 "$programs/${3:-rewrite_decide}" "$2" \
		>"$out/$1.out" 2>"$out/$1.err" || fail "$2 without the library: $(tail -n 3 "$out/$1.err")"
}

same() { # WHAT NAME NAME
	compared=$((compared + $(wc -l <"$out/$2.out")))
	cmp -s "$out/$2.out" "$out/$3.out" ||
		fail "$1: $2 and $3 differ: $(diff "$out/$2.out" "$out/$3.out" | head -n 4 | tr '\n' ' ')"
}

fact() { # NAME TEXT: is it in the recording?
	"$programs/../tools/ledger" "$out/$1.tfs" | grep "^told cudnn-search decisions: " | grep -q "$2"
}

# Run 1 = run 2 = run 3; and with some seed something was decided.
three() { # CASE [CASE OF LATER RUNS]
	some=0
	for seed in $decide_seeds; do
		environment=TFSIM_HOSTILE=$seed
		rm -f "$out/decisions"
		go first "$1" || fail "$1 with seed $seed: $(tail -n 3 "$out/first.err")"
		cp "$out/decisions" "$out/written"
		go second "${2-$1}" || fail "${2-$1} again with seed $seed: $(tail -n 3 "$out/second.err")"
		go third "$1" || fail "$1 a third time with seed $seed: $(tail -n 3 "$out/third.err")"
		cmp -s "$out/decisions" "$out/written" || fail "$1 with seed $seed: later runs wrote decisions"
		same "$1 with seed $seed" first second
		same "$1 with seed $seed" first third
		for name in second third; do
			[ "$("$programs/../tools/ledger" "$out/$name.tfs" | awk '/^fact cudnn-search /{ print $NF; exit }')" = 0 ] ||
				fail "$1 with seed $seed: the $name run searched"
		done
		some=$((some + $(ledger first "cudnn-search applied")))
	done
	environment=
}
applied() { # CASE: in the last three
	[ "$some" -gt 0 ] || fail "$1: nothing was ever applied, so nothing was compared"
}
three many
applied many
three threads
applied threads
three per-step
applied per-step
three streams
applied streams
three eager-first
applied eager-first
three captured-first
[ "$some" = 0 ] || fail "captured-first: a problem that was met in a capture was changed"
three ask-0-6 ask-6-0
applied ask-0-6

refused() { # NAME CHECK: by that check
	[ "$(ledger "$1" "cudnn-search $2")" -gt 0 ] || fail "$1: not refused by $2"
}
# A replay on a device without memory for workspaces.
rm -f "$out/decisions"
go first per-step || fail "per-step: $(tail -n 3 "$out/first.err")"
environment=TFSIM_MEMORY=64m
go tight per-step || fail "per-step without memory: $(tail -n 3 "$out/tight.err")"
environment=
refused tight workspace-memory

# What the program is told, and the workspace that a list's head needs.
told() { # CASE
	for seed in $decide_seeds; do
		environment=TFSIM_HOSTILE=$seed
		rm -f "$out/decisions"
		plain without "$1" rewrite_probe
		go first "$1" rewrite_probe || fail "$1 with seed $seed: $(tail -n 3 "$out/first.err")"
		go second "$1" rewrite_probe || fail "$1 again with seed $seed: $(tail -n 3 "$out/second.err")"
		for name in first second; do
			if [ "$1" != heads ]; then
				same "$1 with seed $seed" without $name
				continue
			fi
			compared=$((compared + $(wc -l <"$out/$name.out")))
			more=$(paste "$out/without.out" "$out/$name.out" | awk '$2 > $1 { n++ } END { print n + 0 }')
			[ "$more" = 0 ] || fail "heads with seed $seed: $more lists ask for more memory"
		done
	done
	environment=
}
told workspaces
told first-that-runs
refused first asked-with-its-workspace
told heads
told without-memory

# Sixty problems at whose first execution the device is busy, and sixty libraries that take memory
# which might go back: where each look at the clock takes a microsecond, whoever waits for 20 ms looks
# 20,000 times. Other looks are few.
rm -f "$out/decisions"
environment="TFSHIM_OPTIONS=report=0:quiet=1 LD_PRELOAD=$(with ""):$programs/../tools/counted_clock.so"
go busy while-busy rewrite_probe || fail "while-busy: $(tail -n 3 "$out/busy.err")"
[ "$(ledger busy "cudnn-search streams-idle")" = 60 ] || fail "while-busy: not 60 problems were left alone"
took=$(sed -n 's/^took: \([0-9]*\) us$/\1/p' "$out/busy.out")
{ [ "${took:-0}" -gt 15000 ] && [ "$took" -lt 25000 ]; } || fail "while-busy: patience lasted ${took:-unknown} us"
environment=

# One run decides, others that start meanwhile do not, and say so; later ones replay the first.
rm -f "$out/decisions" "$out/go"
mkfifo "$out/go"
(go deciding pausing <"$out/go") &
decider=$!
exec 9>"$out/go"
for i in $(seq 600); do
	[ "$(cat "$out/deciding.out" 2>/dev/null | wc -l)" -ge 10 ] && break
	sleep 0.1
done
plain without pausing </dev/null
go beside pausing </dev/null || fail "pausing beside another run: $(tail -n 3 "$out/beside.err")"
same "a run beside the one that decides is not as asked" without beside
fact beside "another run is searching" || fail "a run does not say that another one decides"
exec 9>&-
wait "$decider" || fail "pausing: $(tail -n 3 "$out/deciding.err")"
go later pausing </dev/null
same "a run after the one that decided" deciding later
[ "$(ledger deciding "cudnn-search applied")" -gt 0 ] || fail "pausing: nothing was applied"

# The first half is in the file, as after a kill: the other half is not searched, and that is said.
head -n 20 "$out/decisions" >"$out/half"
cp "$out/half" "$out/decisions"
go half pausing </dev/null || fail "half: $(tail -n 3 "$out/half.err")"
go again pausing </dev/null
same "half of the decisions" half again
cmp -s "$out/half" "$out/decisions" || fail "half: the file was written to"
refused half not-a-replay
fact half "convolutions not searched; delete $out/decisions to search them" || fail "half: not said"

# Where nothing can be written, nothing is searched: no room, no folder, a planted link.
nowhere() { # NAME
	go "$1" pausing </dev/null || fail "$1: $(tail -n 3 "$out/$1.err")"
	same "$1: not as asked" without "$1"
	[ "$(ledger "$1" "cudnn-search applied")" = 0 ] || fail "$1: something was applied"
}
rm -f "$out/decisions"
echo precious >"$out/victim"
ln -s "$out/victim" "$out/decisions"
nowhere planted
[ "$(cat "$out/victim")" = precious ] || fail "a planted link was followed"
refused planted decision-is-written
fact planted "cannot be read" || fail "planted: not said"
rm -f "$out/decisions" "$out/victim"
ln -s "$out/victim" "$out/decisions"
nowhere dangling
[ ! -e "$out/victim" ] || fail "a dangling link was followed"
rm -f "$out/decisions"
environment=TFSHIM_DECISIONS=/proc/nowhere/decisions
nowhere folder
environment=

# A replay needs no recording: a folder that is none, no room at all.
replay() { # WHAT OUTPUT CASE
	rm -f "$out/decisions"
	limit=$blocks blocks=
	go recorded "$3" </dev/null
	blocks=$limit
	[ "$(ledger recorded "cudnn-search applied")" -gt 0 ] || fail "$1: nothing was applied, so nothing is replayed"
	environment=TFSHIM_OUTPUT=$2
	go unrecorded "$3" </dev/null || fail "$1: $(tail -n 3 "$out/unrecorded.err")"
	environment=
	same "$1" recorded unrecorded
	grep -q "nothing is recorded" "$out/unrecorded.err" || fail "$1: there is a recording"
}
replay "no folder" /proc/nowhere/run pausing
blocks=4
replay "no room" "$out/full" pausing
blocks=
replay "per-step without a folder" /proc/nowhere/run per-step

# Room for some decisions only: no signal ends the program, and what found no room was not used.
rm -f "$out/decisions" "$out/full.tfs"
blocks=4
go full pausing </dev/null || fail "full: $(tail -n 3 "$out/full.err")"
blocks=
cp "$out/decisions" "$out/written"
go later pausing </dev/null
same "room for some decisions" full later
lines=$(wc -l <"$out/written")
{ [ "$lines" -gt 4 ] && [ "$lines" -lt 30 ]; } || fail "full: $lines lines of decisions"
[ "$(tail -c 1 "$out/written" | wc -l)" = 1 ] || fail "full: a line is cut off"
[ "$(ledger later "cudnn-search applied")" -gt 0 ] || fail "full: nothing was applied"

echo "$done runs, $compared results compared, $failed failures"
[ "$failed" = 0 ]
