# SPDX-License-Identifier: MIT
# A training step in PyTorch: alone, under the library, and with PyTorch's own profiler.
. "$GPU_HERE/common.sh"

# PyTorch brings libraries of its own, which others must not be put before.
run_torch() {
	missing=$GPU_WORK/torch-libraries
	[ -d "$missing" ] || { mkdir "$missing" && link_missing "$missing" "$GPU_ROOT/lib"; }
	# shellcheck disable=SC2086
	limited 60 env LD_LIBRARY_PATH="$missing${GPU_OWN_PATH:+:$GPU_OWN_PATH}" TFSHIM_OUTPUT="$PWD/torch" $settings \
		python3 "$GPU_HERE/torch_step.py" "$@" >torch.out 2>&1
}

settings=TFSHIM_DISABLE=1
if ! own limited 60 python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >torch.out 2>&1; then
	put torch torch "skipped: no PyTorch that sees a GPU here: $(last_words torch.out 1)"
	exit 0
fi
off="LD_PRELOAD=$shim TFSHIM_REWRITE=off"
settings_plain=TFSHIM_DISABLE=1
settings_profiler=TFSHIM_DISABLE=1
settings_totals="$off TFSHIM_OPTIONS=record=none:report=0:quiet=1"
settings_all="$off TFSHIM_OPTIONS=record=all:report=0:quiet=1:limit=2g"
settings_windows="$off TFSHIM_OPTIONS=report=0:quiet=1"
settings_safe="LD_PRELOAD=$shim TFSHIM_OPTIONS=report=0:quiet=1 TFSHIM_DECISIONS=$PWD/torch.decisions"
settings_safe_profiler=$settings_safe
round=0
while [ "$round" -lt "$GPU_ROUNDS" ] && [ "$(left)" -gt 5 ]; do
	for kind in $(rotate $round plain totals windows all safe profiler safe_profiler); do
		eval "settings=\$settings_$kind"
		arguments=
		case $kind in *profiler) arguments=--profile ;; esac
		rm -f torch*.tfs
		run_torch $arguments
		status=$?
		suffix=+$kind
		[ "$kind" != plain ] || suffix=''
		if [ "$status" != 0 ]; then
			[ "$(left)" -le 2 ] || put failures "torch $kind" "FAILED: status $status: $(last_words torch.out)"
			echo "== torch $kind: status $status"
			cat torch.out
			continue
		fi
		put torch-times "torch$suffix" "$(sed -n 's/^time: step \([0-9.]*\) ms.*/\1/p' torch.out)"
		put torch "loss $kind" "$(sed -n 's/.*, loss //p' torch.out)"
		if [ -f torch.tfs ]; then
			"$suite/recorded" torch.tfs >torch.is
			for what in calls kernels links fact-cupti; do
				put torch "$kind $what" "$(sed -n "s/^$what //p" torch.is | tail -n 1)"
			done
			ledger torch "torch$suffix" torch.tfs
			"$tfshim" report --quiet torch.tfs >/dev/null 2>&1 && [ "$kind" = all ] &&
				put torch verdict "$(head -n 1 torch.txt)"
			[ "$kind" != windows ] || { echo "== PyTorch"; cat torch.txt; }
		fi
	done
	round=$((round + 1))
done
clocks
exit 0
