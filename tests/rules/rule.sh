#!/bin/sh
# SPDX-License-Identifier: MIT
# A rule's three programs, and more traps, on the simulated device:
# rule.sh [--profile NAME] LIBRARY TFSHIM SIMULATED-LIBRARIES PROGRAMS ID [TRAP...]
#
# Costs are compared between runs, in modelled time, which no other load moves. With a profile other
# than slow nothing is computed, the host's time is real (but for rules that go by a search), and
# only what is found counts.
set -u

here=$(dirname "$0")
profile=slow
if [ "$1" = --profile ]; then
	profile=$2
	shift 2
fi
library=$(realpath "$1")
tfshim=$(realpath "$2")
simulated=$3
programs=$4
id=$5
shift 5
# A real device does not look shared when a variable says so.
if [ "$id" = 907 ] && [ -n "${TFSHIM_HARDWARE:-}" ]; then
	echo "skipped: only the simulated device is shared when asked to be"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TFSHIM_OPTIONS TFSHIM_OUTPUT TFSHIM_REWRITE LD_PRELOAD
# Tensor cores of the profile slow are no faster than its others, and its kernels run one by one.
case $id$profile in 60[34]slow | 403slow) profile=h100 ;; esac
# A search is what TFS601 and TFS610 go by; its patience is for a real device's speed.
rewrites=off
case $id in 601 | 610) rewrites=report ;; esac
counts='' compute=1 pace=0
# What these compute decides nothing, and takes longer than all else.
[ "$id" != 306 ] || compute=0
preload=$library:$programs/../tools/stacks_first.so
[ -z "${TFSHIM_HARDWARE:-}" ] || counts=--counts # times are those of the device there
case $profile$id in
slow90*) pace=1 ;; # what a report can vouch for has no cost
slow*) preload=$preload:$programs/../tools/modelled_clock.so ;;
*601 | *610)
	# A search compares times, which a busy machine spreads, and that of convolutions results.
	preload=$preload:$programs/../tools/modelled_clock.so
	counts=--counts
	[ "$id" = 601 ] || compute=0
	;;
*) pace=1 counts=--counts compute=0 ;;
esac

watch() {
	# It copies to another device's memory.
	devices=1
	[ "$1" != trap_peer ] || devices=2
	# What a launcher left on; and what is off, logs errors only, or does not say where to.
	switches=
	case $id-$1 in
	707-bad) switches='CUDA_LAUNCH_BLOCKING=1 CUBLASLT_LOG_LEVEL=1' ;;
	707-trap) switches='CUDA_LAUNCH_BLOCKING=0 CUBLAS_LOGINFO_DBG=1 CUDNN_LOGLEVEL_DBG=1 NCCL_DEBUG=INFO' ;;
	907-bad) switches=TFSIM_MPS=1 ;;
	907-trap) switches='CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50' ;;
	esac
	# shellcheck disable=SC2086 # words
	TFSIM_DEVICES="$devices" LD_LIBRARY_PATH="$simulated" TFSHIM_OUTPUT="$folder/$1" TFSHIM_REWRITE="$rewrites" \
		TFSIM_PROFILE="$profile" TFSIM_COMPUTE="$compute" TFSIM_PACE="$pace" \
		TFSHIM_OPTIONS=report=0:search_ms=100000 LD_PRELOAD="$preload" \
		timeout 60 env $switches "$programs/rule_${id}_$1" >"$folder/out" 2>&1 || {
		echo "$1 ended with $?"
		tail -n 20 "$folder/out"
		return 1
	}
	"$tfshim" report --quiet "$folder/$1.tfs"
}

watch bad && watch clean && watch trap || exit 1
for trap; do
	watch "trap_$trap" || exit 1
done
# shellcheck disable=SC2086 # a flag or nothing
python3 "$here/rule.py" $counts "$id" "$here/$id" "$folder" "$@"
