# SPDX-License-Identifier: MIT
# What watching costs with all rewrites off: nothing preloaded, totals only (as outside windows),
# everything recorded (as inside windows), each with and without CUPTI; shared and static runtime.
. "$GPU_HERE/common.sh"

steps=1500 warmup=300
[ -z "$GPU_QUICK" ] || { steps=40 warmup=10; }
off="LD_PRELOAD=$shim TFSHIM_REWRITE=off"
settings_plain='TFSHIM_DISABLE=1'
settings_disabled="LD_PRELOAD=$shim TFSHIM_DISABLE=1"
settings_totals="$off TFSHIM_OPTIONS=record=none:report=0:quiet=1"
settings_totals_no_driver="$off TFSHIM_OPTIONS=record=none:driver=0:report=0:quiet=1"
settings_all="$off TFSHIM_OPTIONS=record=all:report=0:quiet=1:limit=2g"
settings_all_no_cupti="$off TFSHIM_OPTIONS=record=all:cupti=0:report=0:quiet=1:limit=2g"
settings_windows="$off TFSHIM_OPTIONS=report=0:quiet=1"

# one PROGRAM KIND
one() {
	eval "settings=\$settings_$2"
	name=${1##*/}
	[ "$2" = plain ] || name=$name+$2
	# shellcheck disable=SC2154
	step_time overhead "$name" "$settings" "$1" --data "$digits" --steps "$steps" --warmup "$warmup" --quiet
}

# calls KIND: nanoseconds per call
calls() {
	eval "settings=\$settings_$1"
	rm -f calls.tfs
	# shellcheck disable=SC2086
	limited 60 env TFSHIM_OUTPUT="$PWD/calls" $settings "$suite/facts_launch" >calls.out 2>&1 || {
		[ "$(left)" -le 2 ] || put failures "calls $1" "FAILED: $(last_words calls.out)"
		return 1
	}
	suffix=+$1
	[ "$1" != plain ] || suffix=''
	while read -r word topic name value; do
		[ "$word $topic" != 'fact call-cost' ] || put calls "$name$suffix" "$value"
	done <calls.out
}

nsys=''
[ -n "$GPU_SIMULATED" ] || nsys=$(find_nsys)
round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for kind in $(rotate $round plain disabled totals totals_no_driver all all_no_cupti); do
		calls "$kind"
	done
	for kind in $(rotate $round plain totals windows all all_no_cupti); do
		one "$trainers/lenet_naive" "$kind"
	done
	for kind in $(rotate $round plain totals all); do
		one "$trainers/mlp" "$kind"
	done
	for kind in $(rotate $round plain totals); do
		one "$trainers/lenet_tuned" "$kind"
	done
	[ -z "$nsys" ] || step_time overhead lenet_naive+nsys TFSHIM_DISABLE=1 "$nsys" profile --trace=cuda --sample=none \
		--force-overwrite=true -o "$PWD/nsys" "$trainers/lenet_naive" --data "$digits" --steps "$steps" --warmup "$warmup" --quiet
	[ -n "$GPU_SIMULATED" ] || for kind in $(rotate $round plain totals all); do
		[ ! -x "$suite/lenet_naive_static" ] || one "$suite/lenet_naive_static" "$kind"
	done
	round=$((round + 1))
done
clocks
exit 0
