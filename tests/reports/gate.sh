#!/bin/sh
# SPDX-License-Identifier: MIT
# The gate as a CI job has it, on trainers that run: `tfshim run --check`, and baselines against
# what becomes of a program. gate.sh TFSHIM FOLDER_OF_TRAINERS SIM_FOLDER
set -u
# shellcheck source=tests/reports/gated.sh
. "$(dirname "$0")/gated.sh"

# All are called trainer, as one that is built again is.
for trainer in "$trainers"/gated_*; do
	[ -f "$trainer" ] || continue
	name=${trainer##*gated_}
	mkdir "$name"
	cp "$trainer" "$name/trainer"
	expect 0 run --rewrite off --record all --no-report -o "$name/run" "$name/trainer"
	[ -s "$name/run.tfs" ] || wrong "$name was not recorded"
done
[ "$cases" = 16 ] || wrong "$cases trainers, not 16"

# Without a baseline a rule decides, with one what is new.
expect 1 check base/run.tfs
says 'TFS101'
silent '\[new\]'
expect 0 check fixed/run.tfs
expect 0 check base/run.tfs --baseline base/run.tfs
says '\[known\]'
says 'known: 1, new: 0, worse: 0'

# The same program under other names.
expect 0 check renamed/run.tfs --baseline base/run.tfs
says '\[known, was at gated.c:[0-9]* in upload\]'
expect 0 check moved/run.tfs --baseline base/run.tfs
says '\[known\]'
expect 0 check file/run.tfs --baseline base/run.tfs
says 'batches.c:[0-9]*  cudaMemcpy .*\[known, was at gated.c:'
cp base/trainer base/other_name
expect 0 run --rewrite off --record all --no-report -o named base/other_name
expect 0 check named.tfs --baseline base/run.tfs
says '\[known\]'
silent 'not comparable'

# It grows. (One step of hundreds may have begun in its middle.)
expect 0 check layer/run.tfs --baseline base/run.tfs
says 'new .*cublasSgemm_v2  1 call/step, not in the baseline; breaks no rule'
expect 0 check batch/run.tfs --baseline base/run.tfs
says '\[known: 2.00 MiB/step, 1.00 MiB in the baseline, in proportion to the other calls of the step\]'
silent 'not in the baseline'
expect 0 check batches/run.tfs --baseline base/run.tfs
says '\[known: \(2\|1\.9[0-9]*\) calls/step, 1 in the baseline, in proportion to the other calls of the step\]'
silent 'not in the baseline'
# Where the images are all that moves, what is computed with them tells.
expect 0 check scaled_batch/run.tfs --baseline scaled/run.tfs
says '\[known: 2.00 MiB/step, 1.00 MiB in the baseline, in proportion to the other calls of the step\]'
expect 1 check padded/run.tfs --baseline scaled/run.tfs
says '\[worse: 2.00 MiB/step, 1.00 MiB in the baseline\]'

# It gets worse.
expect 1 check more/run.tfs --baseline base/run.tfs
says '\[worse: \(2\|1\.9[0-9]*\) calls/step, 1 in the baseline\]'
expect 1 check waiting/run.tfs --baseline base/run.tfs
says 'TFS201 .*\[new\]'
says 'TFS101 .*\[known\]'
expect 0 check waiting/run.tfs --baseline base/run.tfs --fail-on never
expect 0 check waiting/run.tfs --baseline base/run.tfs --ignore TFS201

# It gets better, and is not to get worse again.
expect 0 check fixed/run.tfs --baseline base/run.tfs
says '^+ good *1 fixed: update the baseline, so that they cannot come back: cp fixed/run.tfs base/run.tfs$'
# One fixed, and the same in another function that was there already: not moved, but new.
expect 1 check elsewhere/run.tfs --baseline base/run.tfs
says 'TFS101 .*  cudaMemcpy .*\[new\]'
says '1 fixed: update the baseline'
says 'known: 0, new: 1, worse: 0'
expect 0 check base/run.tfs --baseline more/run.tfs
says '1 happens less often: update the baseline'
expect 1 check base/run.tfs --baseline fixed/run.tfs
expect 0 check base/run.tfs --baseline base/run.tfs
silent 'refresh'
expect 0 check fixed/run.tfs --baseline base/run.tfs --ignore TFS101
silent '[0-9] fixed'

# Another program's, by the same name or another.
expect 1 check other/run.tfs --baseline base/run.tfs
says 'not comparable'
expect 0 check fixed/run.tfs --baseline other/run.tfs
says 'not comparable'

# On another GPU, or among another number of processes.
TFSIM_PROFILE=h100 expect 0 run --rewrite off --record all --no-report -o h100 base/trainer
expect 1 check h100.tfs --baseline base/run.tfs
says 'not comparable with base/run.tfs, which is of another GPU (.*, not .*)'
silent 'known'
TFSIM_PROFILE=h100 expect 0 run --rewrite off --record all --no-report -o h100-fixed fixed/trainer
expect 0 check h100-fixed.tfs --baseline base/run.tfs
says 'of another GPU'
for size in 1 2; do
	WORLD_SIZE=$size RANK=0 expect 0 run --rewrite off --record all --no-report -o world-$size base/trainer
done
expect 0 check world-1.tfs --baseline base/run.tfs
says '\[known\]'
expect 1 check world-2.tfs --baseline base/run.tfs
says 'which is of another number of processes (1, not 2)'
expect 0 check world-2.tfs --baseline world-2.tfs
says '\[known\]'
# A folder of baselines for several machines.
mkdir machines
cp h100.tfs world-2.tfs base/run.tfs machines
for run in h100 world-2 base/run; do
	expect 0 check $run.tfs --baseline machines
	says '\[known\]'
	silent 'not comparable'
done

# Folders: each program's latest run, by its own program and rank.
mkdir job empty
cp named.tfs job/a.tfs
cp fixed/run.tfs job/b.tfs
expect 1 check job
says 'broken  job/a.tfs'
says 'clean  job/b.tfs'
silent 'earlier'
expect 0 run --rewrite off --record all --no-report -o job/later fixed/trainer
cp base/run.tfs job/earlier.tfs
expect 1 check job
says 'broken  job/a.tfs'
says 'clean  job/later.tfs'
silent '  job/b.tfs'
silent '  job/earlier.tfs'
says 'job: 1 recording of earlier runs left out'
says 'job/earlier.tfs: left out: a recording of an earlier run'
rm job/a.tfs
expect 0 check job
expect 1 check job/earlier.tfs
mkdir later
cp fixed/run.tfs later/old.tfs
expect 0 run --rewrite off --record all --no-report -o later/new base/trainer
expect 1 check later
says 'broken  later/new.tfs'
silent '\(clean\|broken\)  later/old.tfs'
says 'later/old.tfs: left out: a recording of an earlier run'
expect 0 check fixed --baseline base
# Of several baselines the latest.
expect 1 check base --baseline job
says '\[new\]'
expect 0 check base --baseline base
expect 3 check empty
says 'empty: no recordings'
expect 3 check base/run.tfs --baseline empty
expect 3 check base empty
expect 3 check ./absent

# The gate over one run.
expect 1 run --check --rewrite off --record all --no-report -o one/run base/trainer
says 'broken  .*one/run.tfs'
expect 0 run --check --rewrite off --record all --no-report --baseline base/run.tfs -o two/run renamed/trainer
says '\[known, was at'
expect 0 run --check --rewrite off --record all --no-report -o one/run fixed/trainer
says 'clean  .*one/run-.*\.tfs'
expect 5 run --check --rewrite off --record all -o three/run fixed/trainer 300 5
says 'clean '
expect 5 run --check --rewrite off --record all -o four/run base/trainer 300 5
says 'broken '
expect 137 run --check -o five/run sh -c 'kill -9 $$'
says 'nothing was recorded'
# What lies there is of another run.
expect 3 run --check -o one/run true
says 'nothing was recorded, so nothing was judged'
TFSHIM_DISABLE=1 expect 3 run --check -o one/run fixed/trainer
says 'TFSHIM_DISABLE is set'
expect 3 run --check --no-report -o one/run fixed/trainer 1
says 'no usable data'
expect 127 run --check ./absent
RANK=1 expect 1 run --check --record all --no-report -o 'rank/%e-%r' base/trainer
says 'rank/trainer-1.tfs'
# One that broke a rule, and one that did not: both are of this run.
expect 1 run --check --rewrite off --record all --no-report -o 'both/%p' sh -c 'base/trainer; exec fixed/trainer'
says 'broken '
says 'clean '
# Still at work when the run is over: nothing is known of it yet.
# shellcheck disable=SC2016 # for the inner shell
expect 3 run --check --no-report -o 'late/%p' sh -c 'fixed/trainer 100000000 & echo $! >late.pid
	while ! ls late/*.tfs >listed 2>&1; do sleep 0.1; done'
says 'still run'
kill "$(cat late.pid)" || wrong "the trainer that should still run does not"

# What cannot be is said before the program starts.
for wrong in '--baseline absent.tfs' '--baseline empty' '--baseline gate.txt'; do
	echo text >gate.txt
	# shellcheck disable=SC2086 # two words
	expect 3 run --check $wrong touch started
	[ -s err ] || wrong "'$wrong' is not told"
	says '^tfshim run: the program was not started$'
done
expect 3 run --check --baseline absent.tfs touch started
says '^tfshim run: baseline absent.tfs: cannot be read: No such file or directory$'
for wrong in '--baseline base/run.tfs' '--fail-on warn' '--select TFS1' '--ignore TFS1' \
	'--check --fail-on fatal' '--check --select TFS999' \
	'--check --baseline base/run.tfs --baseline base/run.tfs'; do
	# shellcheck disable=SC2086
	expect 2 run $wrong touch started
	[ -s err ] || wrong "'$wrong' is not told"
done
[ ! -e started ] || wrong "the program was started all the same"

echo "$cases runs of tfshim"
exit "$failed"
