#!/bin/sh
# SPDX-License-Identifier: MIT
# The gate on runs that are not whole, not alone, or not alike: runs that crashed, jobs with a rank
# missing, folders of several programs or with a recording that was cut, other names, rewrites on and
# off. gate_runs.sh TFSHIM FOLDER_OF_TRAINERS SIM_FOLDER
set -u
# shellcheck source=tests/reports/gated.sh
. "$(dirname "$0")/gated.sh"

# verdict STATUS LINES ARGUMENT...: of `tfshim check`, and how many lines say what is odd
verdict() {
	status=$1
	lines=$2
	shift 2
	expect "$status" check --color never "$@"
	[ "$(wc -l <err)" = "$lines" ] || wrong "'check $*' does not say $lines lines on stderr"
}

# record FILE TRAINER [ARGUMENT...]: all of it; 128 + n where a signal ends it
record() {
	to=$1
	shift
	ends=0
	case ${3-0} in
	-*) ends=$((128 - $3)) ;;
	*) ends=${3-0} ;;
	esac
	expect "$ends" run --rewrite off --record "${record-all}" --no-report -o "$to" "$@"
	[ -s "$to.tfs" ] || wrong "$to.tfs was not recorded"
}

for name in base fixed late_wait other; do
	mkdir "$name"
	cp "$trainers/gated_$name" "$name/trainer"
	record "$name/run" "$name/trainer"
done

# A run that ended in its middle, here before the waits began that the whole run has, has fixed
# nothing; and it knows nothing of what comes later.
record exit late_wait/trainer 150 1
verdict 0 0 exit.tfs --baseline late_wait/run.tfs
says '1 of the baseline.s findings not seen in the 1[0-9]* steps of this run; the baseline has 2[0-9]*'
silent 'fixed:'
verdict 1 0 late_wait/run.tfs --baseline exit.tfs --fail-on note
says 'TFS201 .*\[new\]'
says 'the baseline has 1[0-9]* steps, this run 2[0-9]*: new findings may begin after'

# One that was killed is judged as far as it went, or it is not judged; it never passes.
for signal in 9 11; do
	record "short-$signal" base/trainer 60 "-$signal"
	"$tfshim" check "short-$signal.tfs" >out 2>err
	case $? in
	1) says 'broken ' ;;
	3) says 'no usable data' ;;
	*) wrong "a run that signal $signal ended passes" ;;
	esac
	record=windows record "killed-$signal" base/trainer 12000 "-$signal"
	verdict 1 1 "killed-$signal.tfs"
	says 'trainer was ended from outside or by _exit: judged as far as it went, which is 1[0-9,]* steps'
	verdict 0 1 "killed-$signal.tfs" --baseline base/run.tfs
	says 'TFS101 .*\[known\]'
	verdict 0 0 base/run.tfs --baseline "killed-$signal.tfs"
	says 'TFS101 .*\[known\]'
done

# job FOLDER TRAINER PROCESSES RANK...: these ranks of a job, alive together, without tfshim run
job() {
	to=$1
	trainer=$2
	processes=$3
	shift 3
	mkdir "$to"
	for rank; do
		WORLD_SIZE=$processes RANK=$rank TFSHIM_REWRITE=off TFSHIM_OUTPUT="$to/$rank" \
			TFSHIM_OPTIONS=record=all:report=0 \
			LD_PRELOAD="$(dirname "$tfshim")/../shim/libtfshim.so:$trainers/../tools/stacks_first.so" \
			timeout 60 "$trainer" 300 0 "$to/all" 2>"$to/$rank.err" &
	done
	for rank; do
		i=0
		while [ ! -e "$to/$rank.tfs" ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
	done
	: >"$to/all"
	wait
	for rank; do [ -s "$to/$rank.tfs" ] || wrong "rank $rank of $to was not recorded"; done
}

# Each rank by its own, in whatever order they were started; and one that is missing is missed.
job four base/trainer 4 0 1 2 3
job turned base/trainer 4 3 2 0 1
job three base/trainer 4 0 1 2
job small fixed/trainer 3 0 1 2
verdict 1 0 four
[ "$(grep -c '^broken ' out)" = 4 ] || wrong "four ranks are not four verdicts"
verdict 0 0 turned --baseline four
[ "$(grep -c '^clean .*known: 1, new: 0, worse: 0$' out)" = 4 ] || wrong "four ranks are not known"
verdict 3 1 three --baseline four
says 'no recording of rank 3: 3 of the job.s 4 processes are here'
verdict 3 1 three --fail-on never
verdict 0 0 three/0.tfs three/1.tfs three/2.tfs --baseline four
verdict 0 1 four --baseline three
says 'four/3.tfs: the baseline has no recording of rank 3: compared with rank [012], three/[012].tfs'
verdict 0 3 small --baseline four
[ "$(grep -c 'of another number of processes (4, not 3)' err)" = 3 ] || wrong "three ranks are not told apart"
# That of an earlier job stands for no rank of this one.
job mixed fixed/trainer 2 0 1
rm mixed/0.tfs
cp four/0.tfs mixed/old.tfs
verdict 3 2 mixed
says 'no recording of rank 0: 1 of the job.s 2 processes is here'
says 'no recording of rank 3: 1 of the job.s 4 processes is here'
job again fixed/trainer 2 1
job before fixed/trainer 2 0
mv before/0.tfs again/0.tfs
verdict 3 1 again
says 'no recording of rank 1: 1 of the job.s 2 processes is here'
# What tfshim run starts: the processes of one machine, all but one, or its own rank.
# shellcheck disable=SC2016 # for the inner shell
ranks='for RANK in $ranks; do export RANK; fixed/trainer; done'
WORLD_SIZE=4 ranks='0 1 2 3' expect 0 run --check --no-report --rewrite off --record all -o 'all/%r' sh -c "$ranks"
WORLD_SIZE=4 ranks='0 1 2' expect 3 run --check --no-report --rewrite off --record all -o 'most/%r' sh -c "$ranks"
says 'no recording of rank 3'
WORLD_SIZE=4 ranks='2 3' expect 0 run --check --no-report --rewrite off --record all -o 'half/%r' sh -c "$ranks"
WORLD_SIZE=4 ranks='1 2' expect 3 run --check --no-report --rewrite off --record all -o 'odd/%r' sh -c "$ranks"
WORLD_SIZE=4 RANK=2 expect 0 run --check --no-report --rewrite off --record all -o 'own/%r' fixed/trainer

# Two programs of one name, of which neither replaces the other; and two of which one has another
# name by now.
mkdir namesakes programs
record namesakes/a fixed/trainer
record namesakes/b other/trainer
verdict 1 0 namesakes
says 'clean  namesakes/a.tfs'
says 'broken  namesakes/b.tfs'
verdict 0 0 base/run.tfs other/run.tfs --baseline namesakes --ignore TFS101
cp base/trainer base/alpha
cp other/trainer other/beta
record programs/a base/alpha
record programs/b other/beta
cp base/trainer base/gamma
record gamma base/gamma
verdict 0 0 gamma.tfs --baseline programs
says '\[known\]'
verdict 1 0 base/run.tfs --baseline namesakes
says '\[new\]'

# Without names there are offsets, which are the same under another file name, and in another program
# not.
for name in base fixed other; do
	mkdir "bare_$name"
	strip -o "bare_$name/trainer" "$name/trainer"
	record "bare_$name/run" "bare_$name/trainer"
done
cp bare_base/trainer bare_base/other_name
record named bare_base/other_name
verdict 0 0 named.tfs --baseline bare_base/run.tfs
says '\[known\]'
verdict 0 0 bare_fixed/run.tfs --baseline bare_base/run.tfs
says '1 fixed: update the baseline'
verdict 1 1 bare_other/run.tfs --baseline bare_base/run.tfs
says 'which is of another program of the same name: judged without a baseline'

# Rules judge the program as written: with rewrites or without.
for rewrites in safe exact all; do
	for steps in all windows; do
		to=$rewrites-$steps
		expect 0 run --rewrite "$rewrites" --record "$steps" --no-report -o "$to" base/trainer 1500
		verdict 1 0 "$to.tfs"
		verdict 0 0 "$to.tfs" --baseline base/run.tfs
		says '\[known\]'
		verdict 0 0 base/run.tfs --baseline "$to.tfs"
		says '\[known\]'
	done
done

# One recording that was cut, among good ones, on either side.
mkdir empty cut stump
verdict 3 1 empty
verdict 3 1 base/run.tfs --baseline empty
says 'empty: no recordings'
cp base/run.tfs cut/a.tfs
cp base/run.tfs stump/a.tfs
head -c 100000 fixed/run.tfs >cut/b.tfs
head -c 100 fixed/run.tfs >stump/b.tfs
for folder in cut stump; do
	verdict 3 1 $folder
	says "$folder/b.tfs: "
	says "broken  $folder/a.tfs"
	verdict 3 1 base/run.tfs --baseline $folder
	says "$folder/b.tfs: "
	silent 'known'
done
size=$(wc -c <fixed/run.tfs)
for part in 1 2 3 5 8 13 21 34 55 89; do
	head -c $((size * part / 90)) fixed/run.tfs >part.tfs
	verdict 3 1 part.tfs
done
head -c $((size - 1)) fixed/run.tfs >part.tfs
verdict 3 1 part.tfs

echo "$cases runs of tfshim"
exit "$failed"
