# SPDX-License-Identifier: MIT
# What the rewrites gain: naive, put right by hand, tuned, and naive under the library with all
# safe rewrites and with each alone; and that programs with nothing to gain lose nothing.
. "$GPU_HERE/common.sh"

# The warm-up covers what the library does at first: finding the steps, a window, the search, and
# measuring its exact rewrites.
steps=2200 warmup=700 sizes='small wide'
[ -z "$GPU_QUICK" ] || { steps=40 warmup=10 sizes=small; }
rewrites=$("$tfshim" run --rewrite no-such-rewrite -- true 2>&1 | sed -n 's/.*there are //p' | tr ',' ' ')
put gain-setup rewrites "$rewrites"
put gain-setup steps "$steps, the first $warmup not timed"
library="LD_PRELOAD=$shim TFSHIM_OPTIONS=report=0:quiet=1"

# one SIZE VARIANT
one() {
	variant=$2
	settings=TFSHIM_DISABLE=1
	case $variant in
	*+*) settings="$library TFSHIM_REWRITE=${variant#*+} TFSHIM_DECISIONS=$PWD/$1-${variant%%+*}-${variant#*+}.decisions" ;;
	esac
	step_time "gain lenet $1" "$variant" "$settings" "$trainers/lenet_${variant%%+*}" --data "$digits" --size "$1" \
		--steps "$steps" --warmup "$warmup" --quiet
}

variants='naive rewritable tuned naive+safe rewritable+safe tuned+safe'
for rewrite in $rewrites; do
	variants="$variants naive+$rewrite"
done
[ -z "$GPU_QUICK" ] || variants='naive rewritable naive+safe naive+pinned-staging'
round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for size in $sizes; do
		for variant in $(rotate $round $variants); do
			one "$size" "$variant"
		done
	done
	round=$((round + 1))
done
exit 0
