# SPDX-License-Identifier: MIT
# The witnesses as a user would run them, with the library's defaults and no rewrite: is what their
# lines are marked for found here too? By counts and places; times are this device's own.
. "$GPU_HERE/common.sh"

resnet='resnet/finish.c,resnet/infer.c,resnet/net.c'
resnet_naive="$resnet,resnet/resnet_naive.c"
for part in backward batch forward; do
	resnet_naive="$resnet_naive,resnet/naive_$part.c"
done
resnet_tuned="$resnet,resnet/resnet_tuned.c"
for part in pass search traffic; do
	resnet_tuned="$resnet_tuned,resnet/tuned_$part.c"
done

# watch NAME FIGURES SOURCES PROGRAM ARGUMENT...: the sources with commas, in tests/trainers; the
# figures are expect.py's
watch() {
	name=$1 figures=$2 sources=$(echo ",$3" | sed "s|,| $GPU_ROOT/tests/trainers/|g")
	shift 3
	missing=$(lacks "$1")
	[ -z "$missing" ] || { put witnesses "$name" "skipped: this machine lacks $missing"; return 0; }
	limited 60 env TFSHIM_OUTPUT="$PWD/$name" TFSHIM_REWRITE=off LD_PRELOAD="$shim" \
		TFSHIM_OPTIONS=quiet=1:report=0 "$@" --quiet >"$name.out" 2>&1
	status=$?
	[ "$(left)" -ge 2 ] || { put witnesses "$name" "left out: no time"; return 0; }
	if [ "$status" != 0 ] || ! limited 60 "$tfshim" report --quiet "$name.tfs" >"$name.said" 2>&1; then
		put witnesses "$name" "FAILED: status $status: $(last_words "$name.out")"
		cat "$name.out" "$name.said"
		return 0
	fi
	put witnesses "$name" "$(head -n 1 "$name.txt")"
	cp "$name.json" "$GPU_RECORDINGS/witness-$name.json"
	cp "$name.txt" "$GPU_RECORDINGS/witness-$name.txt"
	# shellcheck disable=SC2086 # words
	python3 "$GPU_ROOT/tests/rules/expect.py" "$name.json" 0 "$figures" $sources 2>&1 |
		grep -v '^steps: ' >"$name.wrong"
	number=0
	while IFS= read -r line; do
		number=$((number + 1))
		put marks "$name $number" "$line"
	done <"$name.wrong"
	put marks "$name" "$number lines are not as marked"
}

if ! command -v python3 >/dev/null; then
	put witnesses witnesses "skipped: this machine lacks python3"
	exit 0
fi
steps=3000
[ -z "$GPU_QUICK" ] || steps=60
for style in naive tuned; do
	watch lenet_$style bytes "lenet_$style.c,lenet.c,lenet_evaluate.c,lenet_search.c" \
		"$trainers/lenet_$style" --data "$digits" --steps "$steps"
	[ -z "$GPU_QUICK" ] || exit 0
done
watch resnet_naive bytes "$resnet_naive" "$trainers/resnet/resnet_naive" --steps 400
watch resnet_tuned bytes "$resnet_tuned" "$trainers/resnet/resnet_tuned" --steps 400
# What a step does besides: is it found, and not where it is done as it should be?
for part in habits full attend pixels layout anew memory saves; do
	watch "resnet_naive-$part" "bytes,part:naive_$part.c" "$resnet_naive,resnet/naive_$part.c" \
		"$trainers/resnet/resnet_naive" --steps 200 --part "$part"
	[ "$part" != saves ] || continue
	watch "resnet_tuned-$part" "bytes,part:tuned_$part.c" \
		"$resnet_tuned,resnet/tuned_$part.c,resnet/sent.c" \
		"$trainers/resnet/resnet_tuned" --steps 200 --part "$part"
done
exit 0
