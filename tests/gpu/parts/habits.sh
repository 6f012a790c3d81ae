# SPDX-License-Identifier: MIT
# What those rewrites gain that the trainers have little use for: programs with one habit each,
# naive, put right by hand, and naive under the library with the rewrite alone and with all.
. "$GPU_HERE/common.sh"

steps=1100 warmup=700 kib=16384
[ -z "$GPU_QUICK" ] || { steps=240 warmup=200; }
[ -z "$GPU_SIMULATED${GPU_PRETEND:-}" ] || kib=64
library="LD_PRELOAD=$shim TFSHIM_OPTIONS=report=0:quiet=1"

# one HABIT VARIANT
one() {
	settings=TFSHIM_DISABLE=1
	case $2 in *+*) settings="$library TFSHIM_REWRITE=${2#*+}" ;; esac
	is_idle "gain habit $1" "$2" && return 0
	step_time "gain habit $1" "$2" "$settings" "$suite/habits" "$1" "${2%%+*}" "$steps" "$warmup" "$kib"
	case $2 in *+all) ;; *+*) note_idle "gain habit $1" "$2" ;; esac
}

round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for entry in query:memoise free:alloc-pool,deferred-free pool:pool-threshold fill:memset-elision \
		wait:sync-narrowing; do
		variants='naive rewritable naive+all'
		for rewrite in $(echo "${entry#*:}" | tr ',' ' '); do
			variants="$variants naive+$rewrite"
		done
		for variant in $(rotate $round $variants); do
			one "${entry%:*}" "$variant"
		done
	done
	round=$((round + 1))
done
clocks
exit 0
