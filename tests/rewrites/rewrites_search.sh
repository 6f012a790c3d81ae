#!/bin/sh
# SPDX-License-Identifier: MIT
# The promises of cudnn-search: as rewrites.sh, and its file of decisions.
#	rewrites_search.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4
. "${0%/*}/rewrites_common.sh"

counterexample rewrite_microbatch cudnn-search 4

options=
run convolution "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/convolution.out")"
applies convolution cudnn-search
refuses cudnn-search gain gain "" ""
refuses cudnn-search program-does-not-search program-does-not-search "" ""
refuses cudnn-search determinism-not-asked convolution "" TF_DETERMINISTIC_OPS=1
refuses cudnn-search one-rank-or-decided convolution "" WORLD_SIZE=2
refuses cudnn-search plain-problem plain-problem "" ""
refuses cudnn-search problem-budget convolution search_problems=0 ""
refuses cudnn-search time-budget convolution search_ms=0 ""
refuses cudnn-search streams-idle streams-idle "" ""
refuses cudnn-search device-memory convolution "" TFSIM_MEMORY=64m
refuses cudnn-search device-memory convolution search_memory=1k ""
# What the program asks for cannot be measured without a workspace.
refuses cudnn-search search-works gain search_workspace=0 ""
# What would be chosen computes something else, or writes where it must not.
refuses cudnn-search same-result convolution "" TFSIM_WRONG=1
refuses cudnn-search same-result convolution "" TFSIM_WILD=1
refuses cudnn-search asked-as-decided asked-as-decided "" ""
refuses cudnn-search not-capturing conv-capturing "" ""

# Among threads, streams and devices: nobody waits for a search, a search waits for nobody.
beside() { # CASE ["CHECK COUNT"...]
	which=$1
	shift
	done=$((done + 1))
	rm -f "$out"/*.decisions
	run "$which" "TFSIM_DEVICES=2 $environment" "$programs/rewrite_search" "$which" ||
		fail "$which: the program noticed: $(tail -n 3 "$out/$which.out")"
	for word; do
		[ "$(ledger "$which" "cudnn-search ${word% *}")" = "${word#* }" ] ||
			fail "$which: not $word: $("$programs/../tools/ledger" "$out/$which.tfs" | grep ^cudnn)"
	done
}
options= environment=TFSIM_PACE=0 beside_seeds=3
[ "${TFSHIM_LONG:-0}" = 1 ] && beside_seeds=30
beside held "decided-before-first-use 4" "one-search-at-a-time 1" "applied 0"
beside gate "streams-idle 1" "applied 0"
beside devices "applied 6"
# Eight threads on eight streams, and on their own default ones; whoever runs a problem while it is
# searched goes on as it began. Resets; forks before, while and after a search.
options=$patient
for seed in $(seq 1 "$beside_seeds"); do
	environment="TFSIM_PACE=0 TFSIM_HOSTILE=$seed"
	beside race
	both=$(($(ledger race "cudnn-search applied") + $(ledger race "cudnn-search decided-before-first-use")))
	[ "$both" = 160 ] ||
		fail "race with seed $seed: $both of 160 calls were applied or refused by name"
	beside streams "applied 321" "search-works 0"
	beside reset "applied 9" "search-works 0"
	beside forks "applied 3" "search-works 0"
done
options=
environment=TFSIM_PACE=0
beside capture "not-capturing 1" "applied 0"
beside backend "not-backend-api 3"
"$programs/../tools/ledger" "$out/backend.tfs" | grep -q "^cudnn-search state.*graph API are left alone" ||
	fail "the report does not say why the graph API is left alone"
options=$patient
beside slow "time-budget 1" "applied 0"
options=
# Nothing is compared on the second device, so that nothing but workspaces could be missing there.
grep -q '^device 1 holds 0 more' "$out/devices.out" ||
	fail "devices: workspaces are missing from free memory: $(cat "$out/devices.out")"

# What was chosen is held against the program's own on the program's numbers, and in shadow beside
# each call; nothing waits for that. A file may name what computes something else.
live() { # NAME CASE ENVIRONMENT EXIT DIFFERS COMPARED: at least so many, with $out/kept.decisions
	done=$((done + 1))
	cp "$out/kept.decisions" "$out/$1.decisions"
	run "$1" "TFSIM_PACE=0 $3" "$programs/rewrite_search" "$2"
	[ $? = "$4" ] || fail "$1: not exit status $4: $(tail -n 3 "$out/$1.out")"
	[ "$(ledger "$1" "cudnn-search applied")" -gt 0 ] || fail "$1: nothing was run beside the program's own"
	[ "$(ledger "$1" "cudnn-search bytes")" = 0 ] || fail "$1: bytes of calls that copy nothing"
	[ "$(ledger "$1" "cudnn-search shadow-differs")" = "$5" ] || fail "$1: not $5 mismatches"
	[ "$(ledger_fact "$1" "cudnn-search live")" -ge "$6" ] || fail "$1: fewer than $6 compared"
}
ledger_fact() { # NAME FACT
	"$programs/../tools/ledger" "$out/$1.tfs" | awk -v key="fact $2" 'index($0, key " ") == 1 { sum += $NF } END { print sum + 0 }'
}
shadow=TFSHIM_REWRITE=cudnn-search=shadow
rm -f "$out"/*.decisions
run kept TFSIM_PACE=0 "$programs/rewrite_search" one-by-one || fail "one-by-one: $(tail -n 3 "$out/kept.out")"
chosen=$(tail -n 1 "$out/kept.decisions" | cut -d '|' -f 3 | cut -d ' ' -f 4)
for seed in $(seq 1 "$beside_seeds"); do
	live beside-apply one-by-one "TFSIM_HOSTILE=$seed" 0 0 1
	live beside-shadow one-by-one "TFSIM_HOSTILE=$seed $shadow" 0 0 5
	live gate-apply behind-gate "TFSIM_HOSTILE=$seed" 0 0 0
	live gate-shadow behind-gate "TFSIM_HOSTILE=$seed $shadow" 0 0 0
done
live wrong-apply one-by-one "TFSIM_WRONG=$chosen" 1 1 0
live wrong-shadow one-by-one "TFSIM_WRONG=$chosen $shadow" 0 1 0

# The lists that a program asks for: the choice comes first, the others keep their order, and
# nothing is missing. On this hostile device the heuristics put algorithm 2 first, the
# best that may stand for it is 0, and of all it is 5.
lists() { # NAME HEAD APPLIED ARGUMENTS...: with $options, and $out/NAME.decisions if it is there
	which=$1 head=$2 applied=$3
	shift 3
	done=$((done + 1))
	env TFSIM_HOSTILE=7 "$programs/rewrite_lists" "$@" 2>/dev/null | grep '^[0-9]' >"$out/without"
	run "$which" TFSIM_HOSTILE=7 "$programs/rewrite_lists" "$@" ||
		fail "rewrite_lists $*: $(tail -n 3 "$out/$which.out")"
	grep '^[0-9]' "$out/$which.out" >"$out/with"
	{ grep "^$head " "$out/with"; grep -v "^$head " "$out/without"; } |
		head -n "$(wc -l <"$out/without")" | cmp -s - "$out/with" ||
		fail "$which: not $head in front of the others: $(cat "$out/with") without: $(cat "$out/without")"
	[ "$(ledger "$which" "cudnn-search applied")" = "$applied" ] || fail "$which: not applied $applied times"
}
options=
rm -f "$out"/*.decisions
lists guess-all 0 1 guess 8
lists guess-one 0 1 guess 1
lists guess-two 0 1 guess 2
lists find 5 0 find 8
# What the program measured is replayed, and so is what stands in the file instead.
lists find 5 0 find 8
sed 's/| list 5 5 /| list 5 1 /' "$out/find.decisions" >"$out/find-replay.decisions"
lists find-replay 1 1 find 8
cp "$out/find-replay.decisions" "$out/findex.decisions"
lists findex 1 1 findex 1000000
# What is asked again is answered without measuring, after the same wait.
rm -f "$out"/*.decisions
lists again 5 2 findex 1000000 3
[ "$(grep -c "^again: left alone, the same list, 0 measured" "$out/again.out")" = 2 ] ||
	fail "a repeated search is made again: $(cat "$out/again.out")"
lists small 6 1 findex 0 2

# Reproducible: a run that searches, and runs that replay its decisions, compute the same bits.
train() { # DUMP DECISIONS [OPTION]
	env TFSHIM_OUTPUT="$out/train-$1" TFSHIM_DECISIONS="$out/$2" TFSIM_PACE=0 \
		TFSHIM_OPTIONS="report=0:quiet=1:staging_cores=0:staging_min=65537:search_ms=100000:window=5:${3:-}" \
		LD_PRELOAD="$(with "${3:-}")" \
		timeout 100 "$trainer" --data "$digits" --steps 60 --batch 32 --deterministic --dump "$out/$1" \
		>"$out/$1.out" 2>&1 || fail "$trainer: $(tail -n 3 "$out/$1.out")"
	applies "train-$1" cudnn-search
	done=$((done + 1))
}
train search kept
train replay kept
train again kept
cmp -s "$out/search" "$out/replay" || fail "the replay differs from the run that searched"
cmp -s "$out/replay" "$out/again" || fail "two replays differ"
train naive-search naive naive=8
train naive-replay naive naive=8
cmp -s "$out/naive-search" "$out/naive-replay" && fail "deciding in the middle of a run goes unnoticed"

# Decisions of another GPU, broken and hostile lines: passed over, said at most, never fatal.
options=
rm -f "$out"/*.decisions
run good "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/good.out")"
good=$(tail -n 1 "$out/good.decisions")
refuse_file() { # MESSAGE [0]: what $out/hostile.decisions gets is refused with it; 0: nothing searched
	done=$((done + 1))
	options=quiet=0
	run hostile "" "$programs/rewrite_checks" convolution || fail "hostile decisions: $(tail -n 3 "$out/hostile.out")"
	grep -q "hostile.decisions.* is not used; the report says why" "$out/hostile.out" ||
		fail "not said with '$1': $(cat "$out/hostile.out")"
	"$programs/../tools/ledger" "$out/hostile.tfs" | grep -qF "told cudnn-search decisions: $1" ||
		fail "not told '$1': $("$programs/../tools/ledger" "$out/hostile.tfs" | grep "^told cudnn")"
	if [ "${2-}" = 0 ]; then
		[ "$(ledger hostile "cudnn-search applied")" = 0 ] || fail "$1: searched all the same"
	else
		[ "$(ledger hostile "cudnn-search applied")" -gt 0 ] || fail "$1: not searched"
	fi
	options=
}
refuse_line() { # MESSAGE LINE
	{ head -n 1 "$out/good.decisions"; printf '%s\n' "$2"; } >"$out/hostile.decisions"
	refuse_file "$1"
}
refuse_line "made for 'another GPU | 91900', not for this GPU and cuDNN version: not used" "another GPU${good#tfsim simulated GPU}"
refuse_line "made for 'tfsim simulated GPU | 90100', not" "$(echo "$good" | sed 's/| 91900 |/| 90100 |/')"
refuse_line "line 2 names no GPU" "no comment$(head -c 3000 /dev/urandom | tr '\0\n' xx)"
refuse_line "line 2 names no GPU" "GPU | 9x | call 0 1 0 1.000000 1.000000 | 1"
refuse_line "line 2 is not a decision" "${good%% | [0-9]* |*} | 91900 | call 0 1 9999999999999999999999 1.000000 1.000000 | 1"
refuse_line "line 2 is not a decision" "${good%% | [0-9]* |*} | 91900 | call 0 1 0 nan inf | 1 2 3"
refuse_line "line 2 does not name a convolution" "${good% *}"
refuse_line "line 2 has text after" "$good 7"
refuse_line "line 2 selects an algorithm that may not" "$(echo "$good" | sed 's/| call \([0-9]*\) [0-9]* /| call \1 6 /')"
{ head -n 1 "$out/good.decisions"; echo "$good" | head -c -4; } >"$out/hostile.decisions"
refuse_file "line 2 is truncated"
[ "$(tail -n 1 "$out/hostile.decisions")" = "$good" ] || fail "a line was appended to one that is cut off"
tail -n 1 "$out/good.decisions" >"$out/hostile.decisions"
cp "$out/hostile.decisions" "$out/kept"
refuse_file "not a decision file of this version: neither used nor written" 0
cmp -s "$out/kept" "$out/hostile.decisions" || fail "a file that is not ours was written to"
rm "$out/hostile.decisions"
mkdir "$out/hostile.decisions"
refuse_file "not a regular file" 0
rmdir "$out/hostile.decisions"
mkfifo "$out/hostile.decisions"
refuse_file "not a regular file" 0
rm "$out/hostile.decisions"
ln -s hostile.decisions "$out/hostile.decisions"
refuse_file "cannot be read (Too many levels of symbolic links)" 0
rm "$out/hostile.decisions"
ln -s nowhere/file "$out/hostile.decisions"
refuse_file "cannot be read (Too many levels of symbolic links)" 0
rm "$out/hostile.decisions"

# The program has asked for another algorithm since: that is left as it is.
sed 's/| call [0-9]* [0-9]* /| call 1 1 /' "$out/good.decisions" >"$out/changed.decisions"
cp "$out/changed.decisions" "$out/kept"
run changed "" "$programs/rewrite_checks" convolution || fail "changed: $(tail -n 3 "$out/changed.out")"
[ "$(ledger changed "cudnn-search applied")" = 0 ] || fail "changed: decided anew"
cmp -s "$out/kept" "$out/changed.decisions" || fail "changed: the file was written to"

# A decision that cuDNN refuses to run: the program's own algorithm does.
rm -f "$out"/*.decisions
run decides "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/decides.out")"
for edit in 's/| call \([0-9]*\) [0-9]* /| call \1 42 /' 's/| call \([0-9]* [0-9]*\) [0-9]* /| call \1 0 /'; do
	sed "$edit" "$out/decides.decisions" >"$out/refused.decisions"
	cmp -s "$out/decides.decisions" "$out/refused.decisions" && fail "no decision to spoil"
	run refused "" "$programs/rewrite_checks" convolution ||
		fail "a decision that cuDNN refuses: $(tail -n 3 "$out/refused.out")"
	done=$((done + 1))
done

# A name that is no rewrite's is said, and off; the others are what they are asked to be.
options=
rm -f "$out"/*.decisions
for names in nonsense "cudnn-searh,cudnn-search=report" "cudnn-search=aply"; do
	options=quiet=0
	run unknown "TFSHIM_REWRITE=$names" "$programs/rewrite_checks" convolution || fail "$names: the program noticed"
	[ "$(grep -c "TFSHIM_REWRITE: unknown rewrite or mode '${names%,*}': ignored" "$out/unknown.out")" = 1 ] ||
		fail "$names: not said: $(cat "$out/unknown.out")"
	[ "$(ledger unknown "cudnn-search applied")" = 0 ] || fail "$names: a rewrite was applied"
	case $names in *report) state=report ;; *) state=off ;; esac
	"$programs/../tools/ledger" "$out/unknown.tfs" | grep -q "^cudnn-search state $state" || fail "$names: not $state"
	done=$((done + 1))
done

echo "$done runs, $failed failures"
[ "$failed" = 0 ]
