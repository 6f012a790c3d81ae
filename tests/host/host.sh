#!/bin/sh
# SPDX-License-Identifier: MIT
# What the step's thread does while the device waits for its batch is told as it is:
# host.sh LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAM [KIND...]
set -u

library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
program=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# watch NAME OPTIONS WORD...: into $folder/NAME.tfs and its reports
watch() {
	name=$1
	options=$2
	shift 2
	LD_LIBRARY_PATH=$simulated TFSHIM_OUTPUT=$folder/$name TFSHIM_REWRITE=off TFSIM_COMPUTE=0 \
		TFSHIM_OPTIONS=report=0:$options LD_PRELOAD=$library timeout 100 "$program" "$@" \
		>"$folder/out" 2>&1 || {
		fail "$name ended with $?"
		tail -n 5 "$folder/out"
	}
	"$tfshim" report --quiet "$folder/$name.tfs" || fail "$name: no report"
}

# message NAME: what TFS701 says, one finding
message() {
	python3 - "$folder/$1.json" <<'EOF'
import json, sys
found = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "TFS701"]
print(found[0]["message"] + " | " + found[0]["advice"] if len(found) == 1 else f"{len(found)} findings")
EOF
}

# told KIND TEXT ADVICE: the first thing that it was found at, in most of the samples; what to do
told() {
	kind=$1
	watch "$kind" host=1 "$kind"
	said=$(message "$kind")
	case $said in
	*"samples the thread was $2 ("*"| $3"*) ;;
	*) fail "$kind: $said" ;;
	esac
	share=$(echo "$said" | sed -n "s/.*samples the thread was $2 (\([0-9]*\)[. ].*/\1/p")
	[ "${share:-0}" -ge 60 ] || fail "$kind: in $share % of the samples: $said"
}

# For how many hundredths of the time in which it could run it waited for a processor.
waited() {
	echo "$said" | sed -n 's/.*for \([0-9]*\)[. ].* of the time in which it could run, it waited for a processor.*/\1/p'
}

code() {
	# A busy machine has no processor for it: that is told, and comes first.
	told code running ''
	busy=$(waited)
	# The advice changes at 25, of which shares are rounded.
	case $said in
	*'| Free processors first'*) [ "${busy:-0}" -ge 25 ] || fail "code: waited $busy %: $said" ;;
	*'| Make batches beside'*) [ "${busy:-0}" -le 25 ] || fail "code: waited $busy %: $said" ;;
	*) fail "code: $said" ;;
	esac
	case $said in
	*'; it ran in decode_batch of host_input.c ('*) ;;
	*) grep -E 'perf_event_open failed|system calls are filtered' "$folder/code.txt" ||
		fail "code: $said" ;;
	esac
}

# To read what is in memory is to run, but in the kernel.
cached() {
	told cached running ''
	kernel=$(echo "$said" | sed -n 's/.*running ([0-9.]* %, \([0-9]*\)[. ].* of that in the kernel).*/\1/p')
	[ "${kernel:-0}" -ge 60 ] || fail "cached: ${kernel:-0} % in the kernel: $said"
	case $said in
	*'iB per step in that time'*) ;;
	*) fail "cached: no bytes: $said" ;;
	esac
}

several() {
	told several running 'Free processors first'
	busy=$(waited)
	[ "${busy:-0}" -ge 25 ] || fail "several: waited for a processor $busy %: $said"
}

others() {
	told lock 'waiting for other threads' 'The thread waits for other threads'
	told pipe 'waiting for a pipe' 'The thread waits for other threads'
	told socket 'waiting for a socket' 'Make batches beside'
	told ready 'waiting until descriptors are ready' 'Make batches beside'
	told process 'starting or awaiting processes' 'Make batches beside'
	told sleep asleep 'Make batches beside'
}

# What was not sampled is not told, and the report says why.
unseen() {
	watch off host=0 sleep
	case $(message off) in *samples*) fail "off: $(message off)" ;; esac
	grep -q 'not sampled: switched off' "$folder/off.txt" || fail "off: not said"
	watch none "proc=$folder/nothing" sleep
	case $(message none) in *samples*) fail "none: $(message none)" ;; esac
	grep -q 'cannot be read in /proc' "$folder/none.txt" ||
		fail "none: not said"
}

for kind; do
	$kind
done
exit "$failed"
