#!/bin/sh
# SPDX-License-Identifier: MIT
# `tfshim run`: exit statuses, signals, what the program gets, and reports after any end.
# run.sh TFSHIM [TRAINER DIGITS SIM_FOLDER]
set -u
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

tfshim=$(realpath "$1")
if readelf -dW "$(dirname "$tfshim")/../shim/libtfshim.so" 2>/dev/null | grep -q 'libasan'; then
	echo "skipped: a library built with AddressSanitizer cannot be preloaded into programs without"
	exit 77
fi
trainer=${2:+$(realpath "$2")}
digits=${3-}
sim=${4-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD

# expect STATUS ARGUMENT...
expect() {
	want=$1
	shift
	timeout 60 "$tfshim" run "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'run $*' ended with $got, not $want"
}

expect 0 true
expect 7 -- sh -c 'exit 7'
expect 137 sh -c 'kill -9 $$'
expect 134 sh -c 'kill -ABRT $$'
expect 143 sh -c 'kill -TERM $$'
expect 127 ./absent
: >plain
expect 126 ./plain
expect 2
expect 2 --no-such-option true
expect 2 --record some true
expect 2 --rewrite pinned-staging=nonsense true
expect 2 --rewrite nonsense touch started
[ ! -e started ] || wrong "an unknown rewrite did not keep the program from starting"
TFSHIM_REWRITE=nonsense expect 2 touch started
[ ! -e started ] || wrong "an unknown rewrite in the environment started the program"
for what in off report exact safe all pinned-staging cudnn-search=report,pinned-staging; do
	expect 0 --rewrite "$what" true
done

# shellcheck disable=SC2016 # for the inner shell
expect 0 --rewrite off -o 'x/%p' sh -c 'echo "$LD_PRELOAD"; echo "$TFSHIM_REWRITE"; echo "$TFSHIM_OUTPUT"'
sed -n 1p out | grep -q '/libtfshim\.so$' || wrong "LD_PRELOAD is not the library"
[ "$(sed -n 2p out)" = off ] || wrong "TFSHIM_REWRITE does not arrive"
[ "$(sed -n 3p out)" = "$(pwd -P)/x/%p" ] || wrong "TFSHIM_OUTPUT is not absolute"
# A folder, and nothing of the name: files in it with the usual names.
# shellcheck disable=SC2016
expect 0 -o y/ sh -c 'echo "$TFSHIM_OUTPUT"'
[ "$(cat out)" = "$(pwd -P)/y/%e-r%r-%p" ] || wrong "a folder is taken for the name of the files: $(cat out)"
# shellcheck disable=SC2016
LD_PRELOAD=libm.so.6 expect 0 sh -c 'echo "$LD_PRELOAD"'
grep -q '/libtfshim\.so:libm\.so\.6$' out || wrong "another preload is lost"
# The program's heap is another one from its start on, or the program does not start.
expect 0 --rewrite off,jemalloc grep -q libjemalloc /proc/self/maps
expect 1 --rewrite all,jemalloc=off grep -q libjemalloc /proc/self/maps
# shellcheck disable=SC2016
expect 0 --rewrite jemalloc sh -c 'echo "$LD_PRELOAD"'
grep -q '/libtfshim\.so:/.*/libjemalloc\.so\.2$' out || wrong "jemalloc is not behind the shim"
expect 3 sh -c 'exit 3' --help
echo 'through' | "$tfshim" run -q cat >out 2>err
grep -q through out || wrong "stdin does not arrive"

# A signal for us is for the program.
# shellcheck disable=SC2016
"$tfshim" run -q sh -c 'trap "exit 9" TERM; echo ready >up; while :; do sleep 0.1; done' >out 2>err &
pid=$!
tries=0
while [ ! -e up ] && [ "$tries" -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -TERM "$pid"
wait "$pid"
got=$?
[ "$got" = 9 ] || wrong "a forwarded SIGTERM ended with $got, not 9"
(trap '' HUP; exec "$tfshim" run -q sh -c 'kill -HUP $$; exit 4') >out 2>err
got=$?
[ "$got" = 4 ] || wrong "an ignored SIGHUP did not stay ignored: $got"

if [ -z "$trainer" ]; then
	echo "run.sh: no trainer given: reports of real runs are not tried"
	exit "$failed"
fi
export LD_LIBRARY_PATH="$sim"

expect 0 -o 'whole/%e' "$trainer" --steps 40 --quiet "$digits"
[ -s "whole/$(basename "$trainer").html" ] || wrong "no page after a normal end"
grep -q 'tfshim: report ' err || wrong "the reports are not named"

timeout 60 "$tfshim" run -o 'killed/%e' "$trainer" --steps 4000 "$digits" >out 2>err &
pid=$!
tries=0
while ! grep -q 'step 40' out && [ "$tries" -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -TERM "$pid"
wait "$pid"
got=$?
[ "$got" = 143 ] || wrong "a trainer ended by SIGTERM gave $got, not 143"
[ -s "killed/$(basename "$trainer").html" ] || wrong "no page after a signal"
# Killed, and its parent has not asked for its status yet.
# shellcheck disable=SC2016 # for the inner shell
expect 0 -o 'kept/%e' sh -c '("$0" --steps 4000 "$1" >kept.out 2>&1 & echo $! >victim; exec sleep 30) &
	echo $! >parent
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -q "step 20" kept.out 2>/dev/null && break
		sleep 0.5
	done
	kill -9 "$(cat victim)"; sleep 0.2' "$trainer" "$digits"
kill "$(cat parent)"
[ -s "kept/$(basename "$trainer").html" ] || wrong "no page of a program that was killed and not waited for"
expect 0 --rewrite off,jemalloc -o 'heap/%e' "$trainer" --steps 20 --quiet "$digits"
grep -q 'jemalloc .*applied to 1 call;' "heap/$(basename "$trainer").txt" ||
	wrong "the report does not say that jemalloc was applied"
TFSHIM_REWRITE=jemalloc TFSHIM_OUTPUT=late LD_PRELOAD="$(dirname "$tfshim")/../shim/libtfshim.so" \
	timeout 60 "$trainer" --steps 20 --quiet "$digits" >out 2>err || wrong "refused, and yet noticed"
grep -q 'refused once at the whole program: jemalloc is not preloaded' late.txt ||
	wrong "the report does not say why there is no jemalloc"
# Either of the two without the other says what to do.
mkdir alone && cp "$(dirname "$tfshim")/../shim/libtfshim.so" alone/
TFSHIM_OUTPUT=alone/run LD_PRELOAD="$folder/alone/libtfshim.so" timeout 60 "$trainer" --steps 20 --quiet "$digits" \
	>out 2>err || wrong "without the tool it is noticed"
grep -q '^tfshim: no report was made, because the tfshim command was not found; run: tfshim report .*alone/run.tfs$' err ||
	wrong "it is not said how to make the report"
# The tool gets the program's environment, but not what decides which libraries are loaded.
printf '#!/bin/sh\nenv >"%s/alone/env"\necho "$@" >"%s/alone/words"\n' "$folder" "$folder" >alone/tfshim
chmod +x alone/tfshim
ASKED_FOR=kept TFSHIM_OUTPUT=alone/told LD_PRELOAD="$folder/alone/libtfshim.so" \
	timeout 60 "$trainer" --steps 20 --quiet "$digits" >out 2>err || wrong "with another tool it is noticed"
grep -q '^ASKED_FOR=kept$' alone/env || wrong "the tool lacks the program's environment"
[ -n "${LD_LIBRARY_PATH-}" ] || wrong "the simulated libraries are not found by LD_LIBRARY_PATH"
grep -E '^LD_(PRELOAD|LIBRARY_PATH)=' alone/env && wrong "the tool is loaded with the program's libraries"
grep -q '^report --exit-summary --summary .*alone/told.tfs$' alone/words || wrong "the tool was asked for: $(cat alone/words)"
rm alone/tfshim
rm alone/libtfshim.so && cp "$tfshim" alone/
alone/tfshim run touch alone/started 2>err && wrong "the tool runs without the library"
grep -q '^tfshim run: libtfshim.so was not found .*: install both with ' err || wrong "it is not said how to get the library"
[ ! -e alone/started ] || wrong "the program was started without the library"
# What another run records there at the same time is its own business.
# shellcheck disable=SC2016 # for the inner shell
expect 0 -o 'shared/%e' sh -c '"$0" --steps 20 --quiet "$1" && exec env -u LD_PRELOAD -u TFSHIM_OPTIONS \
	"$2" run --no-report -o shared/other "$0" --steps 20 --quiet "$1"' "$trainer" "$digits" "$tfshim"
[ -s "shared/$(basename "$trainer").html" ] || wrong "no page of this run"
[ -s shared/other.tfs ] || wrong "the other run recorded nothing"
[ ! -e shared/other.html ] || wrong "another run's recording was taken for this one's"
# Killed in a container, where it has a number that a process here has as well.
if unshare --pid --fork true 2>/dev/null; then
	# shellcheck disable=SC2016
	expect 0 -o 'boxed/%e' unshare --pid --fork sh -c '"$0" --steps 4000 "$1" >boxed.out 2>&1 &
		while kill -0 $! && ! grep -q "step 20" boxed.out; do sleep 0.1; done
		kill -9 $!' "$trainer" "$digits"
	[ -s "boxed/$(basename "$trainer").html" ] || wrong "no page of a program killed in a container"
fi
expect 0 --no-report -o 'bare/%e' "$trainer" --steps 20 --quiet "$digits"
[ -s "bare/$(basename "$trainer").tfs" ] || wrong "--no-report recorded nothing"
[ ! -e "bare/$(basename "$trainer").html" ] || wrong "--no-report reported"
expect 0 --options report=0 -o 'silent/%e' "$trainer" --steps 20 --quiet "$digits"
[ ! -e "silent/$(basename "$trainer").html" ] || wrong "report=0 reported"
TFSHIM_OPTIONS=report=0 expect 0 --options report=1 -o 'asked/%e' "$trainer" --steps 20 --quiet "$digits"
[ -e "asked/$(basename "$trainer").html" ] || wrong "a later report=1 did not count"
exit "$failed"
