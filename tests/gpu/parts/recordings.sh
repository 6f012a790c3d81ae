# SPDX-License-Identifier: MIT
# A recording of at most 1 MB of each trainer, to develop rules with where there is no GPU, and
# what the report says of it here, where the trainer's lines have names.
. "$GPU_HERE/common.sh"

# So many steps in a row are recorded.
window=25

# keep NAME PROGRAM ARGUMENT...
keep() {
	name=$1
	shift
	[ -x "$1" ] || return 0
	missing=$(lacks "$1")
	[ -z "$missing" ] || { put verdicts "$name" "skipped: this machine lacks $missing"; return 0; }
	rm -f "$name".*
	limited 60 env TFSHIM_OUTPUT="$PWD/$name" TFSHIM_REWRITE=report LD_PRELOAD="$shim" \
		TFSHIM_OPTIONS=window=$window:limit=1000k:quiet=1:report=0 "$@" >"$name.out" 2>&1
	status=$?
	if [ "$(left)" -lt 2 ]; then
		put verdicts "$name" "left out: no time"
		return 0
	fi
	if [ "$status" != 0 ] || [ ! -f "$name.tfs" ]; then
		put verdicts "$name" "FAILED: status $status: $(last_words "$name.out")"
		echo "== recording of $name: status $status"
		cat "$name.out"
		return 0
	fi
	if ! limited 60 "$tfshim" report --quiet "$name.tfs" >"$name.said" 2>&1; then
		put verdicts "$name" "FAILED: no report: $(last_words "$name.said")"
		return 0
	fi
	put verdicts "$name" "$(head -n 1 "$name.txt")"
	put findings "$name" "$(sed -n 's/^ *[0-9]*\. . [a-z]* *\(TFS[0-9]*\) [^ ]* *\([^ ]*\).*/\1@\2/p' "$name.txt" 2>/dev/null | sort | tr '\n' ' ')"
	put replay "$name" "$(sed -n 's/.*they differ by *//p; s/^ *\([0-9.-]* % from\).*/\1/p' "$name.txt" 2>/dev/null | tr '\n' ' ')"
	echo "== report of $name"
	cat "$name.txt"
	cp "$name.tfs" "$GPU_RECORDINGS/$name.tfs"
}

for trainer in lenet_naive mlp lenet_rewritable lenet_tuned; do
	keep $trainer "$trainers/$trainer" --data "$digits" --steps 110 --quiet
	[ -z "$GPU_QUICK" ] || [ $trainer != mlp ] || break
done
[ -n "$GPU_QUICK" ] || for size in large medium tiny; do
	keep wide_$size "$trainers/wide" --size $size --steps 90 --quiet
done
# Their steps have ten times the calls.
window=6
[ -n "$GPU_QUICK" ] || for trainer in resnet_naive resnet_tuned; do
	keep $trainer "$trainers/resnet/$trainer" --steps 110 --quiet
done
window=25
[ -n "$GPU_SIMULATED" ] || for trainer in lenet_naive mlp; do
	keep ${trainer}_static "$suite/${trainer}_static" --data "$digits" --steps 110 --quiet
done
# The rules of what was kept, as they are where the programs are not: their lines have no names.
said=$(sh "$GPU_HERE/recordings.sh" "$tfshim" "$GPU_RECORDINGS" --write) || put verdicts recordings "FAILED: $said"
exit 0
