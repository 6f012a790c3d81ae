#!/bin/sh
# SPDX-License-Identifier: MIT
# The gate as a CI job has it, on trainers that run: `tfshim run --check`, and baselines against
# what becomes of a program. gate.sh TFSHIM FOLDER_OF_TRAINERS SIM_FOLDER
set -u
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

tfshim=$(realpath "$1")
trainers=$(realpath "$2")
sim=$(realpath "$3")
if readelf -dW "$(dirname "$tfshim")/../shim/libtfshim.so" 2>/dev/null | grep -q 'libasan'; then
	echo "skipped: a library built with AddressSanitizer cannot be preloaded into programs without"
	exit 77
fi
if ! ldd "$tfshim" | grep -q libdw; then
	echo "skipped: without libdw there are no names that could change"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for name in $(env | sed -n 's/^\(TFSHIM_[A-Z]*\|TFSIM_[A-Z]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID
# Only modelled times, and nothing to compute.
export LD_LIBRARY_PATH="$sim" TFSIM_PROFILE=a100 TFSIM_COMPUTE=0
cases=0

# expect STATUS COMMAND ARGUMENT...: of tfshim
expect() {
	want=$1
	shift
	cases=$((cases + 1))
	timeout 60 "$tfshim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'$*' ended with $got, not $want"
}

says() {
	grep -qe "$1" out err || wrong "'$1' is not said"
}

silent() {
	! grep -qe "$1" out err || wrong "'$1' is said"
}

# All are called trainer, as one that is built again is.
for trainer in "$trainers"/gated_*; do
	[ -f "$trainer" ] || continue
	name=${trainer##*gated_}
	mkdir "$name"
	cp "$trainer" "$name/trainer"
	expect 0 run --rewrite off --record all --no-report -o "$name/run" "$name/trainer"
	[ -s "$name/run.tfs" ] || wrong "$name was not recorded"
done
[ "$cases" = 11 ] || wrong "$cases trainers, not 11"

# Without a baseline a rule decides, with one what is new.
expect 1 check base/run.tfs
says 'TFS101'
silent '\[new\]'
expect 0 check mended/run.tfs
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
says 'new .*cublasSgemm_v2  calls per step: 1, not in the baseline; no rule objects'
expect 0 check batch/run.tfs --baseline base/run.tfs
says '\[known: 2.00 MiB per step, 1.00 MiB before, as most of the step\]'
silent 'not in the baseline'
expect 0 check batches/run.tfs --baseline base/run.tfs
says '\[known: calls per step: \(2\|1\.9[0-9]*\), 1 before, as most of the step\]'
silent 'not in the baseline'

# It gets worse.
expect 1 check more/run.tfs --baseline base/run.tfs
says '\[worse: calls per step: \(2\|1\.9[0-9]*\), 1 before\]'
expect 1 check waiting/run.tfs --baseline base/run.tfs
says 'TFS201 .*\[new\]'
says 'TFS101 .*\[known\]'
expect 0 check waiting/run.tfs --baseline base/run.tfs --fail-on never
expect 0 check waiting/run.tfs --baseline base/run.tfs --ignore TFS201

# It gets better, and is not to get worse again.
expect 0 check mended/run.tfs --baseline base/run.tfs
says '1 fixed: refresh the baseline.* base/run.tfs'
expect 0 check base/run.tfs --baseline more/run.tfs
says '1 happen less: refresh the baseline'
expect 1 check base/run.tfs --baseline mended/run.tfs
expect 0 check base/run.tfs --baseline base/run.tfs
silent 'refresh'
expect 0 check mended/run.tfs --baseline base/run.tfs --ignore TFS101
silent 'fixed'

# Another program's, by the same name or another.
expect 1 check other/run.tfs --baseline base/run.tfs
says 'not comparable'
expect 0 check mended/run.tfs --baseline other/run.tfs
says 'not comparable'

# Folders: all in them, each by its own program and rank.
mkdir job empty
cp base/run.tfs job/a.tfs
cp mended/run.tfs job/b.tfs
expect 1 check job
says 'broken  job/a.tfs'
says 'clean  job/b.tfs'
expect 0 check mended --baseline base
expect 0 check base --baseline job
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
expect 0 run --check --rewrite off --record all --no-report -o one/run mended/trainer
says 'clean  .*one/run-.*\.tfs'
expect 5 run --check --rewrite off --record all -o three/run mended/trainer 300 5
says 'clean '
expect 5 run --check --rewrite off --record all -o four/run base/trainer 300 5
says 'broken '
expect 137 run --check -o five/run sh -c 'kill -9 $$'
says 'nothing was recorded'
# What lies there is of another run.
expect 3 run --check -o one/run true
says 'nothing was recorded, so nothing was judged'
TFSHIM_DISABLE=1 expect 3 run --check -o one/run mended/trainer
says 'TFSHIM_DISABLE is set'
expect 3 run --check --no-report -o one/run mended/trainer 1
says 'no usable data'
expect 127 run --check ./absent
RANK=1 expect 1 run --check --record all --no-report -o 'rank/%e-%r' base/trainer
says 'rank/trainer-1.tfs'
# One that broke a rule, and one that did not: both are of this run.
expect 1 run --check --rewrite off --record all --no-report -o 'both/%p' sh -c 'base/trainer; exec mended/trainer'
says 'broken '
says 'clean '
# Still at work when the run is over: nothing is known of it yet.
# shellcheck disable=SC2016 # for the inner shell
expect 3 run --check --no-report -o 'late/%p' sh -c 'mended/trainer 100000000 & echo $! >late.pid
	while ! ls late/*.tfs >listed 2>&1; do sleep 0.1; done'
says 'still run'
kill "$(cat late.pid)" || wrong "the trainer that should still run does not"

# What cannot be is said before the program starts.
for wrong in '--baseline absent.tfs' '--baseline empty' '--baseline gate.txt'; do
	echo text >gate.txt
	# shellcheck disable=SC2086 # two words
	expect 3 run --check $wrong touch started
	[ -s err ] || wrong "'$wrong' is not told"
done
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
