#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # cases are functions, called by name
# Programs do not notice the shim: shim_same.sh SHIM PROGRAMS CASE [TRAINER DIGITS]
set -u

shim=$1
programs=$2
case=$3
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

# Whatever way it ends, and what is in the recording then: all, where tfshim run keeps it or there
# is an exit; else what was there a moment before.
endings() {
	for way in return _exit abort signal segv quick_exit exec thread; do
		compare "$way" '' "$programs/shim_ending" "$way"
		[ "$way" != exec ] || continue
		look "$way"
		case $way in return | thread) finished=1 ;; *) finished=0 ;; esac
		expect "$way" finished $finished
		[ $finished = 0 ] || expect "$way" total cudaMemcpy 200
		[ "$(value "$way" total cudaMemcpy)" -le 200 ] || fail "$way: too many calls"
		kept "kept-$way" '' "$programs/shim_ending" "$way"
		[ "$(cat "$work/kept-$way.status")" = "$(cat "$work/$way.status")" ] ||
			fail "kept-$way ends with $(cat "$work/kept-$way.status")"
		look "kept-$way"
		expect "kept-$way" finished $finished
		expect "kept-$way" total cudaMemcpy 200
		expect "kept-$way" lost 0
	done
	# The process ends with the program's last thread, and not with one of ours.
	compare pthread_exit '' "$programs/shim_ending" pthread_exit
	look pthread_exit
	expect pthread_exit total cudaMalloc 200
	expect pthread_exit finished 1
	# The program before and after exec has the same process id: two recordings or a refusal,
	# never one file for both.
	output=$work/exec-%n
	kept exec-twice '' "$programs/shim_ending" exec
	output=
	for number in 1 2; do
		mv "$work/exec-$number.tfs" "$work/exec$number.tfs"
		look "exec$number"
		expect "exec$number" total cudaMalloc 1
	done
	echo "9 ways to end"
}

# As the first process of a container, whose end ends all others: the report is there all the same.
first() {
	alone='unshare --pid --fork'
	[ "$(id -u)" = 0 ] || alone="$alone --user --map-root-user"
	$alone true 2>/dev/null || {
		echo "skipped: no process may be made the first of its own here"
		exit 77
	}
	for report in 0 1; do
		TFSHIM_CHECK_REPORT=$report
		for way in return _exit abort signal; do
			# shellcheck disable=SC2086
			compare "first-$way" "" $alone "$programs/shim_ending" "$way"
		done
		# shellcheck disable=SC2086
		compare first-reaper "" $alone "$programs/shim_reaper"
		[ $report = 0 ] || [ -s "$work/first-return.txt" ] ||
			[ ! -x "$programs/../../reports/tfshim" ] || fail "no report was made"
	done
	[ ! -e "$work/first-return.html" ] || fail "a page about nothing"
	look first-return
	expect first-return total cudaMemcpy 200
	expect first-return finished 1
}

# Output that nobody reads any more: no signal either.
unread() {
	compare unread nonsense sh -c "exec 3>&1; {
		sleep 0.2
		'$programs/shim_ending' _exit 2>&1 >&3 3>&-
		echo ended with \$? >&3
	} | true"
	says unread 'ended with 3'
}

# Output that nobody ever reads, full: nobody waits for it, and what found no room is counted.
clogged() {
	TFSHIM_CHECK_REPORT=1
	# The simulated device that is late on a busy machine says so, and waits for who reads it.
	for kind in pipe narrow socket terminal narrow-terminal; do
		compare "clogged-$kind" quiet=0:nonsense:unknown:absent timeout 60 "$programs/shim_clogged" "$kind" \
			/usr/bin/env -u TFSHIM_REWRITE TFSHIM_LOG=debug TFSIM_PACE=0 TFSIM_SCALE=100000000 \
			"$programs/shim_ending" return
		look "clogged-$kind"
		expect "clogged-$kind" total cudaMemcpy 200
		expect "clogged-$kind" finished 1
		[ "$(value "clogged-$kind" lost_lines_dropped)" -gt 1 ] ||
			fail "$kind: $(value "clogged-$kind" lost_lines_dropped) lines dropped"
		[ -s "$work/clogged-$kind.txt" ] || [ ! -x "$programs/../../reports/tfshim" ] ||
			fail "$kind: no report was made"
		echo "$kind: $(value "clogged-$kind" lost_lines_dropped) lines dropped"
	done
}

# Files under a size limit: no signal, and what fits is kept.
limited() {
	for blocks in 0 4 8 64 2000; do
		# The program writes to a pipe, the shim's complaints would go to a file.
		compare "limit$blocks" record=all:nonsense sh -c "{
			(ulimit -f $blocks; exec '$programs/shim_ending' _exit)
			echo ended with \$?
		} | cat"
		says "limit$blocks" 'ended with 3'
		if [ -f "$work/limit$blocks.tfs" ]; then
			look "limit$blocks"
			echo "limit of $blocks blocks: $(value "limit$blocks" bytes) bytes," \
				"$(value "limit$blocks" lost) losses"
		fi
	done
}

# Descriptors: all closed, or opened and closed all the time.
closed() {
	for unwinder in 1 0; do
		( cd "$work" && compare closer "unwind=$unwinder" "$programs/shim_closer" && exit "$failed" ) ||
			failed=1
	done
	mkdir -p "$work/churn"
	after=$programs/libshim_failing.so
	SHIM_FAILING=slow
	export SHIM_FAILING
	( cd "$work/churn" && compare churn record=all "$programs/shim_closer" churn && exit "$failed" ) ||
		failed=1
	look churn
	echo "$(value churn calls) calls recorded, $(value churn bytes) bytes, while files were opened and closed"
}

# Standard error is a file of the program's own by the time that we have something to say.
stolen() {
	compare stolen nonsense sh -c "exec 2>&-; exec '$programs/shim_stolen' '$work/stolen-file'"
	says stolen 'own file: 4 bytes'
}

trainers() {
	trainer=$4
	digits=$5
	steps=30
	bare bare "$trainer" --data "$digits" --steps "$steps" --deterministic --dump "$work/bare.dump"
	for options in '' record=all record=none; do
		watched shim "$options" "$trainer" --data "$digits" --steps "$steps" --deterministic \
			--dump "$work/shim.dump"
		same shim bare
		cmp "$work/bare.dump" "$work/shim.dump" || fail "$options: other weights"
		look shim
		[ "$(value shim counted)" -gt 900 ] || fail "$options: nothing was recorded"
		rm -f "$work/shim.dump" "$work"/shim.tfs
	done
	[ -s "$work/bare.dump" ] || fail "no weights were written"
	echo "$(wc -l <"$work/bare.out") lines and $(wc -c <"$work/bare.dump") bytes of weights the same"
}

case $case in
errno)
	for options in '' record=all record=none window=5; do
		compare errno "$options" "$programs/shim_errno"
	done
	grep changed "$work/errno.out" | awk '{ sum += $4 } END { print sum " changes of errno" }'
	;;
reaper)
	for report in 0 1; do
		TFSHIM_CHECK_REPORT=$report
		for way in '' adopt; do
			compare reaper "" "$programs/shim_reaper" $way
		done
		[ $report = 0 ] || [ -s "$work/reaper.txt" ] || [ ! -x "$programs/../../reports/tfshim" ] ||
			fail "no report was made"
	done
	cat "$work/reaper.out"
	;;
*) $case "$@" ;;
esac
exit "$failed"
