#!/bin/sh
# SPDX-License-Identifier: MIT
# The rewrites' promises: each named check refuses in a program that breaks its precondition, each
# counterexample passes on the hostile device and fails with the naive rewrite.
#	rewrites.sh LIBRARY PROGRAMS_DIR TRAINER DIGITS TFSHIM   (TFSHIM_LONG=1: many more seeds)
set -u
library=$1 programs=$2 trainer=$3 digits=$4 tfshim=$5
. "${0%/*}/rewrites_common.sh"

counterexample rewrite_stack pinned-staging 1
counterexample rewrite_stack_static pinned-staging 1
counterexample rewrite_capture pinned-staging 2
counterexample rewrite_beside pinned-staging 1048576
watched=$programs/rewrite_watched
counterexample rewrite_reset pinned-staging 2097152
counterexample rewrite_lazy pinned-staging 4194304
watched=
counterexample rewrite_oom pinned-staging 16777216
counterexample rewrite_again pinned-staging 33554432
counterexample rewrite_threads pinned-staging 1
counterexample rewrite_devices pinned-staging 1
passes rewrite_fork pinned-staging
counterexample rewrite_fork pinned-staging 16 "$tfshim"

options=
run plain "" "$programs/rewrite_checks" plain || fail "plain: $(tail -n 3 "$out/plain.out")"
applies plain pinned-staging
refuses pinned-staging host-and-device host-and-device "" ""
refuses pinned-staging size size "" ""
refuses pinned-staging not-capturing not-capturing "" ""
refuses pinned-staging source-pageable source-pageable "" ""
[ "$(ledger source-pageable "pinned-staging source-pageable")" = 3 ] ||
	fail "one of pinned, registered and managed memory was taken for pageable"
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
refuses pinned-staging copy-calls copy-calls "" ""
refuses pinned-staging no-fault copy-calls-later "" ""
refuses pinned-staging not-capturing hidden-capture "" ""
refuses pinned-staging faster often naive=8388608 TFSIM_PACE=0
checker=rewrite_checks

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
copy_threads report staging_threads=4 0
[ "$("$programs/../tools/ledger" "$out/threads.tfs" | grep -c "^fact staging")" = 0 ] ||
	fail "pinned memory where staging is only reported on"

# Two devices: rings for both, within the limit; what is across them is left alone.
for limit in 64m 6m; do
	options=staging_limit=$limit
	run devices "TFSIM_PACE=0 TFSIM_DEVICES=2" "$programs/rewrite_devices" || fail "devices: $(tail -n 3 "$out/devices.out")"
	applies devices pinned-staging
	[ "$(ledger devices "pinned-staging own-stream")" -gt 0 ] || fail "devices: another's stream was used"
	pinned=$("$programs/../tools/ledger" "$out/devices.tfs" | awk '
		$2 == "staging.pinned" && $3 > most { most = $3 } END { print most + 0 }')
	case $limit in
	64m) [ "$pinned" = $((32 << 20)) ] || fail "devices: $pinned bytes pinned, not two rings" ;;
	6m) [ "$pinned" = $((6 << 20)) ] || fail "devices: $pinned bytes pinned, not 6m"
	    [ "$(ledger devices "pinned-staging pinned-memory")" -gt 0 ] || fail "devices: more than 6m" ;;
	esac
	done=$((done + 1))
done

options=
run contexts "" "$programs/rewrite_limits" two-contexts || fail "contexts: $(tail -n 3 "$out/contexts.out")"
"$programs/../tools/ledger" "$out/contexts.tfs" | grep -q "^fact staging.pinned $((32 << 20))$" ||
	fail "contexts: not a ring for each"
done=$((done + 1))

# On the driver's functions: once for each call, whichever form it was looked up in.
options=
run driver "TFSIM_PACE=0" "$programs/rewrite_driver" || fail "driver: $(tail -n 3 "$out/driver.out")"
# 8 of the 24 go the program's own way, to learn the rate of that.
[ "$(ledger driver "pinned-staging applied")" = 16 ] ||
	fail "driver: $("$programs/../tools/ledger" "$out/driver.tfs" | grep "^pinned")"
for counted in "cuMemcpyHtoD_v2 3" "cuMemcpyHtoD_v2_ptds 3" "cuMemcpyHtoDAsync_v2 3" \
	"cuMemcpyHtoDAsync_v2_ptsz 3" "cuMemcpyDtoH_v2 9" "cuMemcpyDtoH_v2_ptds 3"; do
	[ "$(ledger driver "calls ${counted% *}")" = "${counted#* }" ] || fail "driver: not $counted"
done
run driver-context "TFSIM_PACE=0" "$programs/rewrite_driver" context ||
	fail "driver-context: $(tail -n 3 "$out/driver-context.out")"
[ "$(ledger driver-context "pinned-staging target-device-memory")" = 12 ] ||
	fail "driver: staged to another context's memory"
run driver-none "" "$programs/rewrite_driver" none || fail "driver-none: $(tail -n 3 "$out/driver-none.out")"
[ "$(ledger driver-none "pinned-staging context")" = 1 ] || fail "driver: staged without a context"
watched=$programs/rewrite_watched
for naive in 0 2097152; do
	[ $naive = 0 ] && options='' || options=naive=$naive
	run driver-reset "TFSIM_PACE=0" "$programs/rewrite_driver" reset
	status=$?
	if [ $naive != 0 ]; then
		noticed "driver-reset with naive=$naive" $status "$out/driver-reset.out" ||
			fail "driver: using a ring that was reset goes unnoticed"
	else
		[ $status = 0 ] || fail "driver-reset: $(tail -n 3 "$out/driver-reset.out")"
		applies driver-reset pinned-staging
	fi
done
watched=
# A driver that lacks what is needed.
options=staging_min=1
cp "$programs/../driver/libcuda-fake.so" "$out/libcuda.so.1"
run driver-poor "" "$programs/../driver/driver_client_hostile" versions "$out/libcuda.so.1" ||
	fail "driver-poor: $(tail -n 3 "$out/driver-poor.out")"
[ "$(ledger driver-poor "pinned-staging usable-library")" -gt 0 ] ||
	fail "a driver without the functions was not refused"
done=$((done + 6))

# A runtime within the program: the same results, the same calls, and the rewrite on its driver's.
for program in driver_client driver_client_shared; do
	for rewrite in off pinned-staging; do
		run $program-$rewrite "TFSHIM_REWRITE=$rewrite" "$programs/../driver/$program" ||
			fail "$program: $(tail -n 3 "$out/$program-$rewrite.out")"
		"$programs/../tools/ledger" "$out/$program-$rewrite.tfs" | awk '$1 == "calls" { sum[$2] += $3 }
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
	[ "$(ledger $program-pinned-staging "pinned-staging applied")" -ge 8 ] ||
		fail "$program: staged $(ledger $program-pinned-staging "pinned-staging applied") times only"
done

# In shadow the program keeps its own result; a rewrite that differs is off and is reported.
shadow() { # NAME OPTIONS STATE TFS906 KIB
	forget "shadow-$1"
	env TFSHIM_OUTPUT="$out/shadow-$1" TFSHIM_REWRITE=off,pinned-staging=shadow \
		TFSHIM_OPTIONS="report=0:quiet=1:window=5:staging_cores=0:staging_min=65537:$2" \
		LD_PRELOAD="$(with "$2")" timeout 100 "$programs/rewrite_steps" 60 "$5" >"$out/shadow.out" 2>&1 ||
		fail "shadow $1: the program noticed: $(tail -n 3 "$out/shadow.out")"
	applies "shadow-$1" pinned-staging
	[ "$(ledger "shadow-$1" "pinned-staging bytes")" = $(($(ledger "shadow-$1" "pinned-staging applied") * $5 * 1024)) ] ||
		fail "shadow $1: not $5 KiB a copy"
	[ "$(ledger "shadow-$1" "pinned-staging shadow-differs")" = "$4" ] || fail "shadow $1: not $4 mismatches"
	"$programs/../tools/ledger" "$out/shadow-$1.tfs" | grep "^pinned-staging state $3" || fail "shadow $1: not $3"
	done=$((done + 1))
}
shadow same "" shadow 0 300
shadow differs naive=64 off 1 300
# Longer ones are compared in part, another one each time.
shadow long "" shadow 0 5000
shadow long-differs naive=64 off 1 5000

for naive in 0 64; do
	[ $naive = 0 ] && options='' || options=naive=$naive
	run shadow-receive TFSHIM_REWRITE=pinned-staging=shadow "$programs/rewrite_limits" receive-often ||
		fail "shadow-receive: the program noticed: $(tail -n 3 "$out/shadow-receive.out")"
	applies shadow-receive pinned-staging
	state=$("$programs/../tools/ledger" "$out/shadow-receive.tfs" | grep "^pinned-staging state")
	case $naive-$state in
	"0-pinned-staging state shadow"* | \
		"64-pinned-staging state off"*"to the host differed from byte 262144 on; 3145728 bytes compared") ;;
	*) fail "shadow-receive with naive=$naive: $state" ;;
	esac
	done=$((done + 1))
done

# The same bits whichever block of steps an exact rewrite is on in. In the modelled time of a device
# to which copies on the host cost nothing, so that staging never finds itself the slower way.
took_part=0
exact() { # DUMP REWRITE OPTIONS
	env TFSHIM_OUTPUT="$out/exact-$1" TFSHIM_REWRITE="$2" TFSIM_PACE=0 TFSIM_PROFILE=a100 \
		TFSHIM_OPTIONS="report=0:quiet=1:staging_cores=0:staging_min=65537:search_ms=100000:window=5:$3" \
		LD_PRELOAD="$(with "$3"):$programs/../tools/modelled_clock.so" \
		timeout 100 "$trainer" --data "$digits" --steps 80 --batch 32 --deterministic --dump "$out/$1" \
		>"$out/$1.out" 2>&1 || fail "$trainer: $(tail -n 3 "$out/$1.out")"
	[ "$(ledger "exact-$1" "pinned-staging applied")" = 0 ] || took_part=$((took_part + 1))
	done=$((done + 1))
}
exact weights-off off ""
exact weights-exact exact measure=0
exact weights-measured exact ""
for steps in 1 2 5; do
	exact "weights-$steps" exact "alternate=$steps"
done
[ "$took_part" = 5 ] || fail "pinned-staging was applied in $took_part of 5 runs only"
for one in exact measured 1 2 5; do
	cmp -s "$out/weights-off" "$out/weights-$one" || fail "other weights with exact rewrites ($one)"
done

# Measured on the running program, in blocks of steps with and without: the one that wins stays,
# the one that loses is off; nothing else about the program changes. In modelled time, which no
# other load moves.
options=
measured() { # NAME OPTIONS ARGUMENTS STATE REASON ["LOW HIGH" of the realised gain in us]
	done=$((done + 1))
	forget "measured-$1"
	# shellcheck disable=SC2086
	env TFSIM_PACE=0 TFSIM_SCALE=4 TFSHIM_OUTPUT="$out/measured-$1" TFSHIM_REWRITE=exact \
		TFSHIM_OPTIONS="report=0:quiet=1:window=5:staging_cores=0:staging_min=65537:$2" \
		LD_PRELOAD="$(with "$2"):$programs/../tools/modelled_clock.so" timeout 100 \
		"$programs/rewrite_steps" $3 >"$out/measured.out" 2>&1 ||
		fail "$1: the program noticed: $(tail -n 3 "$out/measured.out")"
	# A later line replaces an earlier one.
	state=$("$programs/../tools/ledger" "$out/measured-$1.tfs" | sed -n 's/^pinned-staging state //p' | tail -n 1)
	echo "$1: $state"
	case $state in
	"$4 "*"$5"*) ;;
	*) fail "$1: not '$4 ... $5': $state" ;;
	esac
	[ -z "${6:-}" ] || echo "$state $6" | awk '{ exit !($3 > $(NF - 1) && $3 < $NF && $4 <= $3 && $3 <= $5) }' ||
		fail "$1: the realised gain is not in $6: $state"
}
measured wins "" "500 1024" apply "A/B over 8 pairs of blocks of 8 steps: faster" "480 510"
measured loses naive=32 "700 1024" lost "slower, switched off" "-20000 -500"
measured short "" "60 1024" off "too short to measure the rewrite: undecided"
measured unasked measure=0 "60 1024" apply "not measured, switched off by measure=0"
measured again "" "1800 1024 256" apply "measured again after the steps changed: faster"
WORLD_SIZE=2 measured ranks "" "240 1024" off "measured over 2 ranks"

echo "$done runs, $failed failures"
[ "$failed" = 0 ]
