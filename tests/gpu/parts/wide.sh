# SPDX-License-Identifier: MIT
# The same for a wider net in three sizes of input, and with the cores that a program's loader
# threads would keep busy.
. "$GPU_HERE/common.sh"

sizes='large medium tiny' library="LD_PRELOAD=$shim TFSHIM_OPTIONS=report=0:quiet=1"
loaders=$(($(nproc) / 2))
# Large steps are milliseconds, tiny ones a fraction of one.
steps_large=450 steps_medium=1200 steps_tiny=1500
warmup_large=300 warmup_medium=600 warmup_tiny=700
[ -z "$GPU_QUICK" ] || sizes=tiny steps_tiny=40 warmup_tiny=10
rewrites=$(rewrite_names)

# one SIZE VARIANT; a variant that ends in "/N" has N loader threads
one() {
	eval "steps=\$steps_$1 warmup=\$warmup_$1"
	variant=$2 plain=${2%/*} threads=0
	[ "$plain" = "$variant" ] || threads=${variant#*/}
	settings=TFSHIM_DISABLE=1
	case $plain in
	*+*) settings="$library TFSHIM_REWRITE=${plain#*+} TFSHIM_DECISIONS=$PWD/$1-${plain%%+*}-${plain#*+}.decisions" ;;
	esac
	is_idle "gain wide $1" "$variant" && return 0
	# shellcheck disable=SC2154 # set by eval
	step_time "gain wide $1" "$variant" "$settings" "$trainers/wide" --size "$1" --style "${plain%%+*}" \
		--steps "$steps" --warmup "$warmup" --loaders "$threads" --quiet
	case $variant in
	naive+all) [ "$round" != 0 ] || note_idle_of_all "gain wide $1" ;;
	naive+safe*) ;;
	naive+*) note_idle "gain wide $1" "$variant" ;;
	esac
}

round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for size in $sizes; do
		# The main ones in every round, the others in every third.
		variants='naive rewritable tuned naive+safe tuned+safe'
		if [ $((round % 3)) = 0 ]; then
			variants="naive+all $variants"
		fi
		if [ "$size" != tiny ] && [ $((round % 3)) = 0 ]; then
			for rewrite in $rewrites; do
				variants="$variants naive+$rewrite"
			done
		fi
		[ "$size" != large ] || variants="$variants naive/$loaders rewritable/$loaders naive+safe/$loaders"
		[ -z "$GPU_QUICK" ] || variants='naive+all naive tuned naive+safe'
		for variant in $(rotate $round $variants); do
			one "$size" "$variant"
		done
	done
	round=$((round + 1))
done
clocks
exit 0
