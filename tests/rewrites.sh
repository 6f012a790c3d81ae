#!/bin/sh
# SPDX-License-Identifier: MIT
# The rewrites' promises: each named check refuses in a program that breaks its precondition, each
# counterexample passes on the hostile device and fails with the naive rewrite.
#	rewrites.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4
seeds=10
[ "${TFSHIM_LONG:-0}" = 1 ] && seeds=1000
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0 done=0

fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# run NAME ENVIRONMENT PROGRAM ARGUMENTS: under the library, recording to $out/NAME.tfs
run() {
	name=$1 environment=$2
	shift 2
	rm -f "$out/$name.tfs"
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/$name" TFSHIM_OPTIONS="record=none:report=0:quiet=1:staging_cores=0:$options" \
		TFSHIM_DECISIONS="$out/$name.decisions" $environment LD_PRELOAD="$library" \
		timeout 100 "$@" >"$out/$name.out" 2>&1
}

# ledger NAME "REWRITE CHECK": the count, 0 when there is none
ledger() {
	"$programs/ledger" "$out/$1.tfs" | awk -v key="$2" '$1 " " $2 == key { sum += $3 } END { print sum + 0 }'
}

applies() { # NAME REWRITE
	[ "$(ledger "$1" "$2 applied")" -gt 0 ] || fail "$1: $2 was not applied"
}

checker=rewrite_checks
refuses() { # REWRITE CHECK CASE OPTIONS ENVIRONMENT
	options=$4
	done=$((done + 1))
	rm -f "$out"/*.decisions
	run "$2" "$5" "$programs/$checker" "$3" || fail "$2: the program noticed: $(tail -n 3 "$out/$2.out")"
	[ "$(ledger "$2" "$1 $2")" -gt 0 ] || fail "$1 did not refuse by '$2' in case $3"
}

counterexample() { # PROGRAM REWRITE NAIVE
	options=
	passed=0
	applied=0
	for seed in $(seq 1 "$seeds"); do
		rm -f "$out"/*.decisions
		run "$1" "TFSIM_HOSTILE=$seed TFSIM_PACE=0" "$programs/$1" ||
			fail "$1 with seed $seed: $(tail -n 3 "$out/$1.out")"
		[ "$(ledger "$1" "calls cudaPeekAtLastError")" = 0 ] ||
			fail "$1: a forked child's calls are in the parent's recording"
		# A hostile search may order the times so that nothing gains; nothing else excuses it.
		if [ "$(ledger "$1" "$2 applied")" -gt 0 ]; then
			applied=$((applied + 1))
		elif [ "$(ledger "$1" "$2 gain")" = 0 ]; then
			fail "$1 with seed $seed: $2 was neither applied nor refused for want of gain"
		fi
		passed=$((passed + 1))
	done
	[ $((applied * 10)) -ge $((passed * 8)) ] ||
		fail "$1: $2 was applied with $applied of $passed seeds only"
	echo "$1: $passed hostile seeds, applied with $applied"
	done=$((done + passed))
	bitten=0
	options=naive=$3
	for seed in 1 2 3 4 5; do
		rm -f "$out"/*.decisions
		run "$1" "TFSIM_HOSTILE=$seed TFSIM_PACE=0" "$programs/$1" &&
			[ "$(ledger "$1" "calls cudaPeekAtLastError")" = 0 ] || bitten=$((bitten + 1))
	done
	[ "$bitten" -gt 0 ] || fail "$1 passes with the naive rewrite as well"
	echo "$1: the naive rewrite fails with $bitten of 5 seeds"
}

counterexample rewrite_stack pinned-staging 1
counterexample rewrite_capture pinned-staging 2
counterexample rewrite_beside pinned-staging 1048576
counterexample rewrite_reset pinned-staging 2097152
counterexample rewrite_lazy pinned-staging 4194304
counterexample rewrite_oom pinned-staging 16777216
counterexample rewrite_again pinned-staging 33554432
counterexample rewrite_threads pinned-staging 1
counterexample rewrite_devices pinned-staging 1
counterexample rewrite_microbatch cudnn-search 4
counterexample rewrite_fork pinned-staging 16

options=
run plain "" "$programs/rewrite_checks" plain || fail "plain: $(tail -n 3 "$out/plain.out")"
applies plain pinned-staging
run convolution "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/convolution.out")"
applies convolution cudnn-search
refuses pinned-staging host-and-device host-and-device "" ""
refuses pinned-staging size size "" ""
refuses pinned-staging not-capturing not-capturing "" ""
refuses pinned-staging source-pageable source-pageable "" ""
refuses pinned-staging target-device-memory target-device-memory "" ""
refuses pinned-staging target-device-memory target-pool "" ""
refuses pinned-staging idle-cores plain staging_cores=4096 ""
refuses pinned-staging pinned-memory plain staging_limit=1m ""
refuses pinned-staging ring-free ring-free staging_limit=16m ""
refuses pinned-staging no-host-page-tables plain "" TFSIM_COHERENT=1
checker=rewrite_limits
refuses pinned-staging pinned-memory plain "" TFSIM_PINNED=1m
refuses pinned-staging blocking-read blocking-read "" ""
refuses pinned-staging target-pageable target-pageable "" ""
refuses pinned-staging source-device-memory source-device-memory "" ""
refuses pinned-staging source-mapped source-mapped "" ""
refuses pinned-staging target-mapped target-mapped "" ""
refuses pinned-staging memory-to-spare memory-to-spare "" ""
refuses pinned-staging not-capturing hidden-capture "" ""
refuses pinned-staging faster often naive=8388608 TFSIM_PACE=0
checker=rewrite_checks
refuses cudnn-search gain gain "" ""
refuses cudnn-search program-does-not-search program-does-not-search "" ""
refuses cudnn-search determinism-not-asked convolution "" TF_DETERMINISTIC_OPS=1
refuses cudnn-search one-rank-or-decided convolution "" WORLD_SIZE=2
refuses cudnn-search plain-problem plain-problem "" ""
refuses cudnn-search problem-budget convolution search_problems=0 ""
refuses cudnn-search time-budget convolution search_ms=0 ""
refuses cudnn-search streams-idle streams-idle "" ""
refuses cudnn-search device-memory convolution "" TFSIM_MEMORY=64m

# Threads of its own only where it copies, and as many as asked for.
copy_threads() { # REWRITE OPTIONS COUNT
	options=$2
	done=$((done + 1))
	run threads "TFSIM_PACE=0 TFSHIM_REWRITE=$1" "$programs/rewrite_threads" ||
		fail "threads: $(tail -n 3 "$out/threads.out")"
	grep -q "^copy threads: $3$" "$out/threads.out" ||
		fail "$1 with $2: $(grep ^copy "$out/threads.out")"
}
copy_threads pinned-staging staging_threads=4 4
copy_threads pinned-staging staging_threads=0 0
copy_threads off staging_threads=4 0

# Two devices: rings for both, within the limit; what is across them is left alone.
for limit in 64m 6m; do
	options=staging_limit=$limit
	run devices "TFSIM_PACE=0" "$programs/rewrite_devices" || fail "devices: $(tail -n 3 "$out/devices.out")"
	applies devices pinned-staging
	[ "$(ledger devices "pinned-staging own-stream")" -gt 0 ] || fail "devices: another's stream was used"
	pinned=$("$programs/ledger" "$out/devices.tfs" | awk '
		$2 == "staging.pinned" && $3 > most { most = $3 } END { print most + 0 }')
	case $limit in
	64m) [ "$pinned" = $((32 << 20)) ] || fail "devices: $pinned bytes pinned, not two rings" ;;
	6m) [ "$pinned" = $((6 << 20)) ] || fail "devices: $pinned bytes pinned, not 6m"
	    [ "$(ledger devices "pinned-staging pinned-memory")" -gt 0 ] || fail "devices: more than 6m" ;;
	esac
	done=$((done + 1))
done

# On the driver's functions: once for each call, whichever form it was looked up in.
options=
run driver "TFSIM_PACE=0" "$programs/rewrite_driver" || fail "driver: $(tail -n 3 "$out/driver.out")"
# 6 of the 24 go the program's own way, to learn the rate of that.
[ "$(ledger driver "pinned-staging applied")" = 18 ] ||
	fail "driver: $("$programs/ledger" "$out/driver.tfs" | grep "^pinned")"
for counted in "cuMemcpyHtoD_v2 3" "cuMemcpyHtoD_v2_ptds 3" "cuMemcpyHtoDAsync_v2 3" \
	"cuMemcpyHtoDAsync_v2_ptsz 3" "cuMemcpyDtoH_v2 9" "cuMemcpyDtoH_v2_ptds 3"; do
	[ "$(ledger driver "calls ${counted% *}")" = "${counted#* }" ] || fail "driver: not $counted"
done
run driver-context "TFSIM_PACE=0" "$programs/rewrite_driver" context ||
	fail "driver-context: $(tail -n 3 "$out/driver-context.out")"
[ "$(ledger driver-context "pinned-staging target-device-memory")" = 12 ] ||
	fail "driver: staged to another context's memory"
done=$((done + 2))

# A runtime within the program: the same results, the same calls, and the rewrite on its driver's.
for program in driver_client driver_client_shared; do
	for rewrite in off pinned-staging; do
		run $program-$rewrite "TFSHIM_REWRITE=$rewrite" "$programs/$program" ||
			fail "$program: $(tail -n 3 "$out/$program-$rewrite.out")"
		"$programs/ledger" "$out/$program-$rewrite.tfs" | awk '$1 == "calls" { sum[$2] += $3 }
			END { for (name in sum) print name, sum[name] }' | sort >"$out/$program-$rewrite.calls"
	done
	grep -v ^tfsim "$out/$program-off.out" >"$out/one"
	grep -v ^tfsim "$out/$program-pinned-staging.out" | cmp -s - "$out/one" ||
		fail "$program computes something else with staging"
	cmp -s "$out/$program-off.calls" "$out/$program-pinned-staging.calls" ||
		fail "$program: other calls are seen with staging"
	done=$((done + 2))
done
for program in driver_client driver_client_shared; do
	[ "$(ledger $program-pinned-staging "pinned-staging applied")" -ge 200 ] ||
		fail "$program: staged $(ledger $program-pinned-staging "pinned-staging applied") times only"
done

# Among threads, streams and devices: nobody waits for a search, a search waits for nobody.
beside() { # CASE ["CHECK COUNT"...]
	options= which=$1
	shift
	done=$((done + 1))
	rm -f "$out"/*.decisions
	run "$which" "TFSIM_PACE=0 TFSIM_DEVICES=2" "$programs/rewrite_search" "$which" ||
		fail "$which: the program noticed: $(tail -n 3 "$out/$which.out")"
	for word; do
		[ "$(ledger "$which" "cudnn-search ${word% *}")" = "${word#* }" ] ||
			fail "$which: not $word: $("$programs/ledger" "$out/$which.tfs" | grep cudnn)"
	done
}
beside held "decided-before-first-use 4" "one-search-at-a-time 1" "applied 0"
beside gate "streams-idle 1" "applied 0"
beside devices "applied 6"
if grep 'holds 0 more' "$out/devices.out"; then
	fail "devices: a device's convolutions use the other one's workspace"
fi

# The list that a program asks for: the choice comes first, and nothing is missing.
options=
env TFSIM_PACE=0 "$programs/rewrite_checks" heuristics >"$out/plain-head" || fail "heuristics without the library"
rm -f "$out"/*.decisions
run heuristics TFSIM_PACE=0 "$programs/rewrite_checks" heuristics || fail "heuristics: $(cat "$out/heuristics.out")"
echo "heuristics: $(cat "$out/plain-head") without, $(grep head "$out/heuristics.out") with the search"

# Reproducible: a run that searches, and runs that replay its decisions, compute the same bits.
train() { # DUMP DECISIONS NAIVE
	env TFSHIM_OUTPUT="$out/train-$1" TFSHIM_DECISIONS="$out/$2" TFSIM_PACE=0 \
		TFSHIM_OPTIONS="report=0:quiet=1:staging_cores=0:window=5:naive=$3" LD_PRELOAD="$library" \
		timeout 100 "$trainer" --data "$digits" --steps 60 --deterministic --dump "$out/$1" \
		>"$out/$1.out" 2>&1 || fail "$trainer: $(tail -n 3 "$out/$1.out")"
	applies "train-$1" cudnn-search
	applies "train-$1" pinned-staging
	done=$((done + 1))
}
train search kept 0
train replay kept 0
train again kept 0
cmp -s "$out/search" "$out/replay" || fail "the replay differs from the run that searched"
cmp -s "$out/replay" "$out/again" || fail "two replays differ"
train naive-search naive 8
train naive-replay naive 8
cmp -s "$out/naive-search" "$out/naive-replay" && fail "deciding in the middle of a run goes unnoticed"

# In shadow the program keeps its own result; a rewrite that differs is off and is reported.
shadow() { # NAME OPTIONS STATE TFS906
	rm -f "$out/shadow-$1.tfs"
	env TFSHIM_OUTPUT="$out/shadow-$1" TFSHIM_REWRITE=off,pinned-staging=shadow \
		TFSHIM_OPTIONS="report=0:quiet=1:window=5:staging_cores=0:$2" \
		LD_PRELOAD="$library" timeout 100 "$programs/rewrite_steps" 200 300 >"$out/shadow.out" 2>&1 ||
		fail "shadow $1: the program noticed: $(tail -n 3 "$out/shadow.out")"
	applies "shadow-$1" pinned-staging
	[ "$(ledger "shadow-$1" "pinned-staging shadow-differs")" = "$4" ] || fail "shadow $1: not $4 mismatches"
	"$programs/ledger" "$out/shadow-$1.tfs" | grep "^pinned-staging state $3" || fail "shadow $1: not $3"
	done=$((done + 1))
}
shadow same "" shadow 0
shadow differs naive=64 off 1

# The same bits whichever block of steps an exact rewrite is on in.
exact() { # DUMP REWRITE OPTIONS
	env TFSHIM_OUTPUT="$out/exact-$1" TFSHIM_REWRITE="$2" TFSIM_PACE=0 \
		TFSHIM_OPTIONS="report=0:quiet=1:staging_cores=0:window=5:$3" LD_PRELOAD="$library" \
		timeout 100 "$trainer" --data "$digits" --steps 80 --deterministic --dump "$out/$1" \
		>"$out/$1.out" 2>&1 || fail "$trainer: $(tail -n 3 "$out/$1.out")"
	[ "$2" = off ] || applies "exact-$1" pinned-staging
	done=$((done + 1))
}
exact weights-off off ""
exact weights-exact exact measure=0
exact weights-measured exact ""
for steps in 1 2 5; do
	exact "weights-$steps" exact "alternate=$steps"
done
for one in exact measured 1 2 5; do
	cmp -s "$out/weights-off" "$out/weights-$one" || fail "other weights with exact rewrites ($one)"
done

# Measured on the running program, in blocks of steps with and without: the one that wins stays,
# the one that loses is off; nothing else about the program changes.
options=
measured() { # NAME OPTIONS ARGUMENTS STATE REASON ["LOW HIGH" of the realised gain in us]
	done=$((done + 1))
	rm -f "$out/measured-$1.tfs"
	# shellcheck disable=SC2086
	env TFSHIM_OUTPUT="$out/measured-$1" TFSHIM_REWRITE=exact TFSHIM_OPTIONS="report=0:quiet=1:window=5:staging_cores=0:$2" \
		LD_PRELOAD="$library" timeout 100 "$programs/rewrite_steps" $3 >"$out/measured.out" 2>&1 ||
		fail "$1: the program noticed: $(tail -n 3 "$out/measured.out")"
	# A later line replaces an earlier one.
	state=$("$programs/ledger" "$out/measured-$1.tfs" | sed -n 's/^pinned-staging state //p' | tail -n 1)
	echo "$1: $state"
	case $state in
	"$4 "*"$5"*) ;;
	*) fail "$1: not '$4 ... $5': $state" ;;
	esac
	[ -z "${6:-}" ] || echo "$state $6" | awk '{ exit !($3 > $(NF - 1) && $3 < $NF && $4 <= $3 && $3 <= $5) }' ||
		fail "$1: the realised gain is not in $6: $state"
}
measured wins "" "300 1024" apply "24 blocks of 8 steps, in turn with and without: it gains" "1500 3500"
measured loses naive=32 "300 1024" lost "it loses, and is off" "-20000 -500"
measured short "" "60 1024" apply "too short to tell ("
measured unasked measure=0 "60 1024" apply "not measured, as asked"
measured again "" "1100 1024 256" apply "asked again as the steps changed: it gains"
WORLD_SIZE=2 measured ranks "" "60 1024" apply "not measured, there are several ranks; kept"

# Decisions of another GPU, broken and hostile lines: passed over, said at most, never fatal.
options=
rm -f "$out"/*.decisions
run good "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/good.out")"
good=$(tail -n 1 "$out/good.decisions")
refuse_file() { # MESSAGE: what $out/hostile.decisions gets is refused with it, and the search made
	done=$((done + 1))
	options=quiet=0
	run hostile "" "$programs/rewrite_checks" convolution || fail "hostile decisions: $(tail -n 3 "$out/hostile.out")"
	grep -q "hostile.decisions: $1" "$out/hostile.out" || fail "not said '$1': $(cat "$out/hostile.out")"
	applies hostile cudnn-search
	options=
}
refuse_line() { # MESSAGE LINE
	{ head -n 1 "$out/good.decisions"; printf '%s\n' "$2"; } >"$out/hostile.decisions"
	refuse_file "$1"
}
refuse_line "it is for 'another GPU | 91900', not for 'tfsim simulated GPU | 91900': not used" "another GPU${good#tfsim simulated GPU}"
refuse_line "it is for 'tfsim simulated GPU | 90100', not" "$(echo "$good" | sed 's/| 91900 |/| 90100 |/')"
refuse_line "line 2 names no GPU" "$(head -c 3000 /dev/urandom | tr '\0\n' xx)"
refuse_line "line 2 names no GPU" "GPU | 9x | 0 1 0 1.000000 1.000000 | 1"
refuse_line "line 2 is not a decision" "${good%% | [0-9]* |*} | 91900 | 0 1 9999999999999999999999 1.000000 1.000000 | 1"
refuse_line "line 2 is not a decision" "${good%% | [0-9]* |*} | 91900 | 0 1 0 nan inf | 1 2 3"
refuse_line "line 2 does not name a problem" "${good% *}"
refuse_line "line 2 goes on" "$good 7"
refuse_line "line 2 chooses what may not stand" "$(echo "$good" | sed 's/| 91900 | \([0-9]*\) [0-9]* /| 91900 | \1 6 /')"
head -c -4 "$out/good.decisions" >"$out/hostile.decisions"
refuse_file "line 2 is cut off"
[ "$(tail -n 1 "$out/hostile.decisions")" = "$good" ] || fail "a line was appended to one that is cut off"
tail -n 1 "$out/good.decisions" >"$out/hostile.decisions"
refuse_file "it is no file of decisions"
rm "$out/hostile.decisions"
mkdir "$out/hostile.decisions"
refuse_file "it is no plain file"
rmdir "$out/hostile.decisions"

# A decision that cuDNN refuses to run: the program's own algorithm does.
rm -f "$out"/*.decisions
run decides "" "$programs/rewrite_checks" convolution || fail "convolution: $(tail -n 3 "$out/decides.out")"
for edit in 's/\(| [0-9]* |\) \([0-9]*\) [0-9]* /\1 \2 42 /' 's/\(| [0-9]* |\) \([0-9]* [0-9]*\) [0-9]* /\1 \2 0 /'; do
	sed "$edit" "$out/decides.decisions" >"$out/refused.decisions"
	cmp -s "$out/decides.decisions" "$out/refused.decisions" && fail "no decision to spoil"
	run refused "" "$programs/rewrite_checks" convolution ||
		fail "a decision that cuDNN refuses: $(tail -n 3 "$out/refused.out")"
	done=$((done + 1))
done

echo "$done runs, $failed failures"
[ "$failed" = 0 ]
