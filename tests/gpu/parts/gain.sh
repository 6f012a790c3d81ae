# SPDX-License-Identifier: MIT
# What the rewrites gain: naive, put right by hand, tuned, and naive under the library with all
# safe rewrites, with all there are, and with each alone; and that programs with nothing to gain lose nothing.
. "$GPU_HERE/common.sh"

# The warm-up covers what the library does at first: finding the steps, a window, the search, and
# measuring its exact rewrites.
steps=1700 warmup=700 sizes='small wide'
[ -z "$GPU_QUICK" ] || { steps=40 warmup=10 sizes=small; }
rewrites=$(rewrite_names)
put gain-setup rewrites "$rewrites"
put gain-setup steps "$steps, the first $warmup not timed"
library="LD_PRELOAD=$shim TFSHIM_OPTIONS=report=0:quiet=1"

# one NET SIZE VARIANT
one() {
	net=$1 variant=$3
	shift
	case $net in
	lenet) program=$trainers/lenet_${variant%%+*} ;;
	mlp) program=$trainers/mlp ;;
	*) program=$suite/${net#static-}_static ;;
	esac
	[ -x "$program" ] || return 0
	settings=TFSHIM_DISABLE=1
	case $variant in
	*+*) settings="$library TFSHIM_REWRITE=${variant#*+} TFSHIM_DECISIONS=$PWD/$net-$1-${variant%%+*}-${variant#*+}.decisions" ;;
	esac
	is_idle "gain $net $1" "$variant" && return 0
	step_time "gain $net $1" "$variant" "$settings" "$program" --data "$digits" --size "$1" \
		--steps "$steps" --warmup "$warmup" --quiet
	case $net,$variant in
	lenet,naive+all) [ "$round" != 0 ] || note_idle_of_all "gain $net $1" ;;
	lenet,naive+safe) ;;
	lenet,naive+*) note_idle "gain $net $1" "$variant" ;;
	esac
}

# Those that tell how far the library gets are measured in every round, the others in every third.
main='naive rewritable tuned naive+safe rewritable+safe tuned+safe'
variants="naive+all $main"
for rewrite in $rewrites; do
	variants="$variants naive+$rewrite"
done
[ -z "$GPU_QUICK" ] || variants='naive+all naive rewritable naive+safe naive+pinned-staging naive+memoise'
round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for size in $sizes; do
		[ $((round % 3)) = 0 ] && now=$variants || now=$main
		for variant in $(rotate $round $now); do
			one lenet "$size" "$variant"
		done
		# They have no twin: what they lose under the library, and what a linked runtime gains.
		for variant in $(rotate $round naive naive+safe); do
			one mlp "$size" "$variant"
			[ -n "$GPU_SIMULATED" ] || one static-lenet_naive "$size" "$variant"
		done
	done
	round=$((round + 1))
done
clocks
exit 0
