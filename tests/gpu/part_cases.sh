# SPDX-License-Identifier: MIT
# Every test program, unchanged: what passes on the simulated device, does it pass on this one?
. "$GPU_HERE/common.sh"

# Costs are compared: at the modelled pace, where the device is the simulated one.
unset TFSIM_PACE
cases=$GPU_BUILD/../tests/gpu/cases.tsv
if [ ! -f "$cases" ]; then
	cases=$PWD/cases.tsv
	python3 "$GPU_HERE/cases.py" "$GPU_BUILD" "$GPU_ROOT" >"$cases" || exit 1
fi
[ -z "$GPU_QUICK" ] || {
	grep -E '^(sim_memory|lib_gemm|cupti_records|rule-904|shim-errno)	' "$cases" >quick.tsv
	cases=quick.tsv
}
# Scripts ask for less where no mood of the device can be asked for.
[ -n "$GPU_SIMULATED" ] || export TFSHIM_HARDWARE=1
tab=$(printf '\t')

# run_case TIME SETTINGS COMMAND...: status and output of one case
run_case() {
	time=$1 settings=$2
	shift 2
	# shellcheck disable=SC2086
	limited "$time" env $settings "$@" >case.out 2>&1
}

while IFS= read -r line; do
	line=$(printf '%s' "$line" | sed "s|@BUILD@|$GPU_BUILD|g; s|@SOURCE@|$GPU_ROOT|g; s|@LIBRARIES@|$GPU_LIBRARIES|g")
	name=${line%%"$tab"*} rest=${line#*"$tab"}
	time=${rest%%"$tab"*} rest=${rest#*"$tab"}
	settings=${rest%%"$tab"*} rest=${rest#*"$tab"}
	if [ "$(left)" -lt 5 ]; then
		put cases "$name" "left out: no time"
		continue
	fi
	set -f
	IFS=$tab
	# shellcheck disable=SC2086 # words with tabs between them
	set -- $rest
	unset IFS
	set +f
	missing=''
	[ "$1" = sh ] || missing=$(lacks "$1")
	[ "$1" != sh ] || for tool in jq python3; do
		grep -q "\\b$tool\\b" "$2" && ! command -v $tool >/dev/null && missing="$missing$tool "
	done
	if [ -n "$missing" ]; then
		put cases "$name" "skipped: this machine lacks $missing"
		continue
	fi
	most=90
	[ -z "$GPU_SIMULATED" ] || most=$time
	[ "$time" -lt "$most" ] || time=$most
	run_case "$time" "$settings" "$@"
	status=$?
	case $status in
	0) put cases "$name" passed ;;
	77) put cases "$name" "skipped: $(last_words case.out 1)" ;;
	*)
		failed=FAILED
		if [ -z "$GPU_SIMULATED" ] && [ "$1" = sh ] && grep -q 'TFSIM_[A-Z]*=' "$2"; then
			failed='fails, and asks for what only the simulated device has'
		fi
		put cases "$name" "$failed: status $status: $(last_words case.out)"
		echo "== case $name: status $status"
		tail -n 60 case.out
		;;
	esac
done <"$cases"

# The rewrites' counterexamples once more, alone and with every rewrite on.
for program in "$programs"/rewrite_* "$programs"/pool_*; do
	if [ ! -x "$program" ] || [ -d "$program" ] || [ -n "$(lacks "$program")" ]; then
		continue
	fi
	name=${program##*/}
	run_case 30 TFSHIM_DISABLE=1 "$program" || continue
	[ -z "$GPU_QUICK" ] || [ "$name" = rewrite_stack ] || continue
	rm -f case.tfs ./*.decisions
	run_case 60 "LD_PRELOAD=$shim TFSHIM_REWRITE=all TFSHIM_OUTPUT=$PWD/case TFSHIM_OPTIONS=record=none:measure=0:report=0:quiet=1:staging_cores=0" "$program"
	status=$?
	applied=''
	[ ! -f case.tfs ] || applied=$("$suite/recorded" case.tfs | sed -n 's/^rewrite-\([^ ]*\) [a-z]*, applied \([1-9][0-9]*\),.*/\1 \2/p' | tr '\n' ' ')
	case $status in
	0) put cases "$name, every rewrite on" "passed" && put applied "$name" "${applied:-none}" ;;
	*)
		[ "$(left)" -gt 2 ] || break
		put cases "$name, every rewrite on" "FAILED: status $status: $(last_words case.out)"
		echo "== $name with every rewrite on: status $status"
		tail -n 60 case.out
		;;
	esac
done
exit 0
