# SPDX-License-Identifier: MIT
# What the report promises of a fix, against what the fix gains: a trainer with one bad habit, and
# its twin without it (tests/pairs), both timed without the library. And how far apart the deeper
# net is from its tuned twin.
. "$GPU_HERE/common.sh"

[ -n "$GPU_QUICK" ] || for round in 0 1 2; do
	for style in $(rotate $round naive tuned); do
		step_time "gain resnet" "$style" TFSHIM_DISABLE=1 "$trainers/resnet/resnet_$style" --steps 240 \
			--warmup 80 --quiet
	done
done

if ! command -v python3 >/dev/null; then
	put pairs pairs "skipped: this machine lacks python3"
	exit 0
fi
# Its products are for a real device.
[ -z "$GPU_SIMULATED${GPU_PRETEND:-}" ] || export TFSIM_COMPUTE=0 TFSIM_PROFILE=a100
# Two runs of one program may differ by a fifth there: what gains much is compared, and what has
# never been.
only='--only 302,307,401-pinned,608,701,105,106,103,603,604,107' hardware='--hardware 5'
[ -z "$GPU_QUICK" ] || { only='--only 202-copy' hardware='--hardware 1'; }
# shellcheck disable=SC2086 # words
limited 600 python3 "$GPU_ROOT/tests/pairs/pairs.py" "$shim" "$tfshim" "$GPU_BUILD/tests" $hardware \
	--each 1 $only >pairs.out 2>&1
status=$?
while read -r word habit text; do
	[ "$word" != pair ] || put pairs "$habit" "$text"
done <pairs.out
cat pairs.out
case $status in
0) ;;
124) put pairs pairs "not all of them: no time" ;;
*) put pairs pairs "FAILED: status $status: $(last_words pairs.out)" ;;
esac
clocks
exit 0
