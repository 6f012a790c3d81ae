#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # cases are functions, called by name
# What programs do with processes, threads and libraries, and what must come out:
#	shim_life.sh SHIM PROGRAMS CASE
set -u

shim=$1
programs=$2
case=$3
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

forks() {
	output=$work/forks-%n
	compare forks record=all "$programs/shim_forks"
	output=
	# The parent and two programs that were started by exec; the forked child has none.
	[ "$(find "$work" -name 'forks-*.tfs' | wc -l)" = 3 ] ||
		fail "recordings: $(find "$work" -name '*.tfs' | tr '\n' ' ')"
	for file in "$work"/forks-*.tfs; do
		name=$(basename "$file" .tfs)
		look "$name"
		case $(value "$name" total cudaMemcpy) in
		600) parents=$((${parents-0} + 1)) ;;
		300) ;;
		*) fail "$name: $(value "$name" total cudaMemcpy) copies" ;;
		esac
		expect "$name" finished 1
		expect "$name" total cudaMalloc 1
	done
	[ "${parents-0}" = 1 ] || fail "${parents-0} recordings have the parent's calls"
	# Two rounds of the parent's own calls, and none of the child's, which could not end if a thread
	# were in the loader when it is made.
	after=$programs/../tools/stacks_first.so
	for options in record=all record=windows; do
		compare clone "$options" "$programs/shim_forks" clone
		look clone
		expect clone total cudaMalloc 301
		expect clone total cudaMemcpy 300
		expect clone total curandDestroyGenerator 1
		[ "$options" != record=all ] || expect clone calls 602
		expect clone threads 1
		expect clone finished 1
		expect clone lost 0
	done
	after=
	compare busy '' "$programs/shim_forks" busy
}

threads() {
	compare threads record=all "$programs/shim_threads" 16 1
	look threads
	expect threads total cudaMemcpy 800
	expect threads threads 17
	expect threads lost 0
	# The search for steps keeps a log of calls, which is as long as threads' turns make it.
	watched many record=none "$programs/shim_threads" 8 300
	[ "$(cat "$work/many.status")" = 0 ] || { fail "many threads"; cat "$work/many.out"; }
	look many
	expect many total cudaMemcpy 120000
	expect many lost 0
	[ "$(value many bytes)" -lt 12000000 ] || fail "2400 threads took $(value many bytes) bytes"
	grep -h tfshim-test "$work"/*.err
	echo "2400 threads: $(value many bytes) bytes, $(value many threads) sets of buffers"
}

plugins() {
	plugin=$programs/libshim_plugin.so
	compare plugin '' "$programs/shim_host" "$plugin"
	says plugin '1 laps'
	look plugin
	expect plugin total cudaMemcpy 200
	compare laps '' "$programs/shim_host" "$plugin" 12
	says laps '12 laps'
	look laps
	expect laps total cudaMemcpy 2400
	cat "$work/laps.out"
	# Without its helper thread, the shim can keep no library: each lap, all are at other places.
	after=$programs/libshim_failing.so
	SHIM_FAILING=threads
	export SHIM_FAILING
	compare helpless '' "$programs/shim_host" "$plugin" 12
	says helpless '12 laps'
}

# By the order of libraries; by a handle of the runtime's, looked up before any constructor of ours.
preloads() {
	for wrapper in "$programs/libshim_wrapper.so" "$programs/libshim_wrapper_handle.so"; do
		preloads_of "$wrapper"
	done
}

preloads_of() {
	wrapper=$1
	bare alone env LD_PRELOAD="$wrapper" "$programs/shim_ending" return
	says alone 'wrapper: 202 copies, 1 allocations'
	before=$wrapper
	watched before '' "$programs/shim_ending" return
	before=
	after=$wrapper
	watched after '' "$programs/shim_ending" return
	after=
	for name in before after; do
		same "$name" alone
		look "$name"
		expect "$name" total cudaMemcpy 200
		expect "$name" total cudaMalloc 1
	done
}

# Many short programs leave little behind, and no page where there is nothing to judge.
short() {
	number=20
	[ -z "${TFSHIM_LONG-}" ] || number=100
	mkdir "$work/short"
	TFSHIM_CHECK_REPORT=1
	output=$work/short/%n
	i=0
	while [ $i -lt $number ]; do
		i=$((i + 1))
		watched short '' "$programs/shim_ending" return
	done
	output=
	TFSHIM_CHECK_REPORT=0
	[ "$(find "$work/short" -name '*.tfs' | wc -l)" = $number ] || fail "not $number recordings"
	[ "$(find "$work/short" -name '*.html' | wc -l)" = 0 ] || fail "pages about nothing"
	bytes=$(find "$work/short" -name '*.tfs' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
	[ "$bytes" -lt $((number * 65536)) ] || fail "$bytes bytes of recordings"
	mv "$work/short/7.tfs" "$work/short7.tfs"
	look short7
	expect short7 total cudaMemcpy 200
	echo "$number programs: $bytes bytes in recordings, $(du -sk "$work/short" | cut -f 1) KiB" \
		"and $(find "$work/short" -type f | wc -l) files on the disk"
}

# instructions COMMAND...: how many it takes, all threads; none where valgrind cannot run it
instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/callgrind" "$@" \
		>"$work/counted.out" 2>"$work/counted.err" </dev/null
	sed -n 's/.* Collected : //p' "$work/callgrind"
}

# The start costs a program of few calls little, however many functions are hooked.
start() {
	command -v valgrind >/dev/null || skip "valgrind is not there"
	alone=$(instructions "$programs/shim_ending" return)
	[ -n "$alone" ] || skip "valgrind cannot run it"
	with=$(LD_PRELOAD=$shim TFSHIM_OUTPUT=$work/start TFSHIM_OPTIONS=report=0:quiet=1 \
		instructions "$programs/shim_ending" return)
	[ -n "$with" ] || fail "it does not run: $(cat "$work/callgrind")"
	look start
	expect start total cudaMemcpy 200
	echo "$alone instructions alone, $with with the shim"
	[ "${with:-0}" -lt $((alone + 12000000)) ] || fail "the start takes too many instructions"
}

# A recording that is full still tells which rewrites acted.
told() {
	for limit in 40k 60k; do
		bare told env LD_PRELOAD="$shim" TFSHIM_REWRITE=alloc-pool TFSHIM_OUTPUT="$work/told-$limit" \
			TFSHIM_OPTIONS="report=0:quiet=1:record=none:measure=0:limit=$limit" \
			"$programs/shim_churn" 3000 4000
		look "told-$limit"
		[ "$(value "told-$limit" lost_records_dropped)" -gt 10 ] || fail "$limit: nothing was lost"
		[ "$(value "told-$limit" bytes)" -le $((${limit%k} * 1024)) ] || fail "$limit: too large"
		"$tfshim" report --format text -o - "$work/told-$limit.tfs" >"$work/told.txt"
		grep 'alloc-pool .*applied to [0-9],[0-9]* calls' "$work/told.txt" ||
			fail "$limit: the report does not tell what alloc-pool did"
	done
}

# A program that finds the runtime by dlopen and dlsym has its calls seen.
looked_up() {
	runtime=$(dirname "$programs")/sim/libcudart.so.13
	compare looked '' "$programs/shim_looked_up" "$runtime"
	look looked
	expect looked total cudaMalloc 1
	expect looked total cudaMemcpy 200
	expect looked total cudaFree 1
	compare off driver=0 "$programs/shim_looked_up" "$runtime"
	[ ! -e "$work/off.tfs" ] || fail "off: a recording was made"
}

exceptions() {
	library=$programs/libshim_throws.so
	[ -f "$library" ] || skip "no g++ when this was built"
	compare exceptions '' "$programs/shim_exceptions" "$library"
	says exceptions 'caught all'
	look exceptions
	expect exceptions total cudaMemcpy 600
	echo "400 exceptions caught"
}

# No CUPTI, one that refuses, one that is somebody else's.
cupti() {
	libraries=$(dirname "$programs")/sim
	mkdir "$work/libraries"
	for file in "$libraries"/lib*.so*; do
		case $file in *.p | */libcupti*) ;; *) ln -s "$file" "$work/libraries/" ;; esac
	done
	after=$programs/../tools/stacks_first.so
	compare absent record=all env LD_LIBRARY_PATH="$work/libraries" "$programs/shim_errno"
	compare refused record=all env TFSIM_CUPTI=refuse "$programs/shim_errno"
	compare driverless record=all env TFSIM_CUPTI=missing-driver "$programs/shim_errno"
	compare old record=all env TFSIM_CUPTI=old-driver "$programs/shim_errno"
	after=
	for name in absent refused driverless old; do
		look "$name"
		case $(value "$name" fact cupti) in
		'not available: '*) echo "$name: $(value "$name" fact cupti)" ;;
		*) fail "$name: the recording says '$(value "$name" fact cupti)'" ;;
		esac
		[ "$(value "$name" calls)" -gt 3000 ] || fail "$name: $(value "$name" calls) calls"
	done
	# The program ends while CUPTI is being started: its exit handlers must not run meanwhile.
	for way in return thread; do
		compare "slow-$way" '' env TFSIM_CUPTI=slow "$programs/shim_ending" "$way"
		look "slow-$way"
		expect "slow-$way" total cudaMemcpy 200
		expect "slow-$way" finished 1
	done
}

# No folder, no permission, no space.
folders() {
	: >"$work/file"
	output=$work/file/below/x
	compare nofolder '' "$programs/shim_ending" return
	# A name that would reorder the line or steer the terminal is shown by its numbers.
	evil=$(printf 'ev\342\200\256il\302\205\033[31m')
	output=$work/file/below/$evil
	compare evil '' "$programs/shim_ending" return
	grep -q 'nothing is recorded: .*/ev\[U+202E\]il\[U+0085\]?\[31m: ' "$work/evil.err" ||
		fail "the hostile name is not shown: $(cat -v "$work/evil.err")"
	output=
	if [ "$(id -u)" != 0 ]; then
		mkdir -m 500 "$work/shut"
		output=$work/shut/x
		compare shut '' "$programs/shim_ending" return
		output=
	fi
	output=/proc/self/nothing/x
	compare noplace '' "$programs/shim_ending" return
	output=
	: >"$work/occupied.tfs"
	output=$work/occupied
	compare there '' "$programs/shim_ending" return
	output=
	[ ! -s "$work/occupied.tfs" ] || fail "a file that was there was written to"
	grep -q 'occupied.tfs belongs to another run; this run is recorded in .*/occupied-' "$work/there.err" ||
		fail "nobody said where it is recorded: $(cat "$work/there.err")"
	cd "$work" || exit 1
	compare removed '' sh -c "mkdir -p gone; cd gone; rmdir ../gone; TFSHIM_OUTPUT=x exec '$programs/shim_ending' return"
}

# Memory that comes and goes outside windows does not fill the recording, and what stays is in it. Of
# a loop that goes on for long, some iterations of seven calls are recorded, each with a mark.
churn() {
	pairs=60000 cap=1m
	[ -z "${TFSHIM_LONG-}" ] || pairs=710100 cap=64m
	for options in record=windows record=none; do
		compare churn "$options:limit=$cap" "$programs/shim_churn" $pairs 100
		says churn done
		look churn
		expect churn total cudaMalloc $((pairs + 100))
		expect churn lost 0
		calls=$(value churn calls) marks=$(value churn marks) bytes=$(value churn bytes)
		{ [ "$calls" -ge 50 ] && [ "$calls" -le $((50 + 8 * marks)) ]; } ||
			fail "$calls calls, $marks iterations"
		[ "$marks" -gt 0 ] || [ "$bytes" -lt 100000 ] || fail "$bytes bytes"
		[ "$marks" = 0 ] || [ -n "${TFSHIM_LONG-}" ] || fail "$marks iterations in a short run"
		echo "$options: $pairs pairs, $marks iterations recorded, $bytes bytes"
	done
}

# The recording is cut short, removed or replaced while the program runs: it goes on as it would.
cut_short() {
	for options in record=all record=windows; do
		for way in none truncate shorten remove replace folder fifo; do
			compare "cut-$way" "$options" "$programs/shim_cut" "$way" "$work/cut-$way.tfs"
			says "cut-$way" 'done, last error 0'
		done
		[ "$(cat "$work/cut-replace.tfs")" = "another's" ] ||
			fail "another's file was written to"
		[ ! -e "$work/cut-remove.tfs" ] || fail "a file that was removed is there again"
		look cut-none
		expect cut-none finished 1
		expect cut-none total cudaMalloc 1
		rm -rf "$work"/cut-*.tfs
	done
	echo "7 ways, twice"
}

# named FOLDER COUNT: it has so many recordings, each of them whole
named() {
	found=0
	for file in "$1"/*.tfs; do
		found=$((found + 1))
		cp "$file" "$work/one.tfs"
		look one
		expect one total cudaMemcpy 200
		expect one finished 1
	done
	[ "$found" = "$2" ] || fail "$found recordings, not $2: $(ls "$1")"
	echo "$found recordings in $1"
}

# run_as NAME OUTPUT: records there, as process number 1
run_as() {
	LD_PRELOAD="$programs/libshim_numbered.so $shim" TFSHIM_REWRITE=off TFSHIM_OUTPUT=$2 \
		TFSHIM_OPTIONS=report=0 timeout 60 "$programs/shim_ending" return \
		>"$work/$1.out" 2>"$work/$1.err"
	[ $? = 6 ] || fail "$1 ended otherwise"
}

# The same number in every run, the same name, runs at once, and a link: each has a file of its own.
names() {
	cd "$work" || exit 1
	run_as first ''
	sum=$(cksum tfshim-out/*-1.tfs)
	for run in second third; do
		run_as "$run" ''
		grep -q -- '-1.tfs belongs to another run; this run is recorded in ' "$run.err" || fail "the $run run says nothing"
	done
	[ "$sum" = "$(cksum tfshim-out/*-1.tfs)" ] || fail "the first run's recording has changed"
	named tfshim-out 3
	mkdir -p fixed
	for run in 1 2 3 4 5 6 7 8; do
		run_as "at-once-$run" fixed/same &
	done
	wait
	named fixed 8
	# Counted names: nobody leaves one out, and nobody has another's.
	for run in 1 2 3 4 5 6 7 8; do
		run_as "counted-$run" counted/run-%n &
	done
	wait
	named counted 8
	mkdir -p linked
	ln -s "$work/target" linked/same.tfs
	run_as linked linked/same
	[ ! -e "$work/target" ] || fail "a link was written through"
	rm linked/same.tfs
	named linked 1
	alone='unshare --pid --fork'
	[ "$(id -u)" = 0 ] || alone="$alone --user --map-root-user"
	$alone true 2>/dev/null || return 0
	for run in 1 2; do
		# shellcheck disable=SC2086
		LD_PRELOAD=$shim TFSHIM_OUTPUT=contained/%e-%p TFSHIM_OPTIONS=report=0 $alone \
			"$programs/shim_ending" return >contained.out 2>&1
	done
	named contained 2
}

# A disk of $1 KiB: either nothing is recorded, or every call is counted, though most left no record.
full_at() {
	mount -o "remount,size=$1k" "$work/full" || fail "the file system does not take $1 KiB"
	output=$work/full/x
	compare full record=all:cupti=0 "$programs/shim_errno"
	output=
	asked=$(sed -n 's/^tfshim-test: .* of \([0-9]*\) requests refused$/\1/p' "$work/full.err")
	[ -n "$asked" ] || fail "nobody counts what the disk of $1 KiB is asked"
	[ -f "$work/full/x.tfs" ] || return 0
	cp "$work/full/x.tfs" "$work/full.tfs"
	rm -f "$work"/full/*
	look full
	counted=$(value full counted)
	[ "$counted" != 0 ] || return 0
	# Not for each call that leaves no record; again now and then, as time goes by.
	[ $((asked * 10)) -lt "$counted" ] || fail "a full disk of $1 KiB was asked $asked times"
	# Totals need no room.
	expect full total cudaStreamCreate 1
	expect full total cudaStreamDestroy 1
	[ "$(value full lost_records_dropped)" -gt 1000 ] || return 0
	full=$((full + 1))
	echo "$1 KiB: $asked requests, $(value full calls) calls recorded," \
		"$(value full lost_records_dropped) records lost, $counted calls counted"
}

full() {
	[ "$(id -u)" = 0 ] || skip "a small file system can only be mounted by root"
	mkdir "$work/full"
	mount -t tmpfs -o size=64k tfshim-test "$work/full" 2>"$work/reason" ||
		skip "no small file system can be mounted: $(cat "$work/reason")"
	trap 'umount "$work/full"; rm -rf "$work"' EXIT
	after=$programs/libshim_failing.so
	full=0
	for size in 4 8 16 20 24 28 32 40 48 64 80 100 130 160 200; do
		full_at "$size"
	done
	[ "$full" -gt 0 ] || fail "no disk was too small for the records and large enough for the totals"
	rm -f "$work"/full/*
	dd if=/dev/zero of="$work/full/ballast" bs=4k 2>/dev/null
	output=$work/full/y
	compare nothing record=all "$programs/shim_errno"
	output=
	[ ! -s "$work/full/y.tfs" ] || fail "there was room for a recording"
}

# A process that never calls CUDA: no thread, no file, and nothing that takes time.
idle() {
	output=$work/idle
	compare idle '' "$programs/shim_idle"
	output=
	[ ! -e "$work/idle.tfs" ] || fail "a file was made"
	says idle '1 threads'
	output=$work/true/x
	compare true '' true
	output=$work/true/y
	compare threads '' grep Threads /proc/self/status
	output=
	[ ! -e "$work/true" ] || fail "a folder was made"
	says threads 'Threads:	1'
}

$case
exit "$failed"
