# SPDX-License-Identifier: MIT
# One test program for parts/cases.sh, in a folder of its own: case.sh LIST NUMBER [last]
# A line of the list is one of cases.py's, or "NAME<tab>every" for a program under every rewrite. It
# writes its result; but a case that fails beside others is only noted in the list's ".again", to be
# tried once more alone, unless it is the last try.
. "$GPU_HERE/common.sh"
list=$1 number=$2 last=${3:-}
tab=$(printf '\t')
line=$(sed -n "${number}p" "$list" | sed "s|@BUILD@|$GPU_BUILD|g; s|@SOURCE@|$GPU_ROOT|g; s|@LIBRARIES@|$GPU_LIBRARIES|g")
name=${line%%"$tab"*} rest=${line#*"$tab"}
mkdir -p "$list.$number" && cd "$list.$number" || exit 0

# run_case TIME SETTINGS COMMAND...: status and output of one case
run_case() {
	time=$1 settings=$2
	shift 2
	# shellcheck disable=SC2086
	limited "$time" env TMPDIR="$PWD" $settings "$@" >case.out 2>&1
}

# failed NAME WHAT STATUS
failed() {
	if [ "$(left)" -lt 3 ]; then
		put cases "$1" "left out: no time to end"
	elif [ -z "$last" ]; then
		echo "$number" >>"$list.again"
	else
		put cases "$1" "$2: status $3: $(last_words case.out)"
		{ echo "== case $1: status $3" && tail -n 60 case.out; } >&2
	fi
}

# The rewrites' counterexamples once more, alone and with every rewrite on.
every() {
	program=$rewrites/$name
	run_case 30 TFSHIM_DISABLE=1 "$program" || return 0
	run_case 60 "LD_PRELOAD=$shim TFSHIM_REWRITE=all TFSHIM_OUTPUT=$PWD/case TFSHIM_OPTIONS=record=none:measure=0:report=0:quiet=1:staging_cores=0:staging_min=65537" "$program"
	status=$?
	if [ "$status" != 0 ]; then
		failed "$name, every rewrite on" FAILED "$status"
		return 0
	fi
	applied=''
	[ ! -f case.tfs ] || applied=$("$suite/recorded" case.tfs | sed -n 's/^rewrite-\([^ ]*\) [a-z]*, applied \([1-9][0-9]*\),.*/\1 \2/p' | tr '\n' ' ')
	put cases "$name, every rewrite on" "passed${last:+, alone}"
	put applied "$name" "${applied:-none}"
}

one() {
	time=$1 settings=$2
	shift 2
	missing=''
	[ "$1" = sh ] || missing=$(lacks "$1")
	[ "$1" != sh ] || for tool in jq python3; do
		grep -q "\\b$tool\\b" "$2" && ! command -v $tool >/dev/null && missing="$missing$tool "
	done
	if [ -n "$missing" ]; then
		put cases "$name" "skipped: this machine lacks $missing"
		return 0
	fi
	most=60
	[ -z "$GPU_SIMULATED" ] || most=$time
	[ "$time" -lt "$most" ] || time=$most
	run_case "$time" "$settings" "$@"
	status=$?
	what=FAILED
	if [ -z "$GPU_SIMULATED" ] && [ "$1" = sh ] && grep -q 'TFSIM_[A-Z]*=' "$2"; then
		what='fails, and asks for what only the simulated device has'
	fi
	case $status in
	0) put cases "$name" "passed${last:+, alone}" ;;
	77) put cases "$name" "skipped: $(last_words case.out 1)" ;;
	124) put cases "$name" "${GPU_SIMULATED:+FAILED: }not done in $time s: $(last_words case.out 1)" ;;
	*) failed "$name" "$what" "$status" ;;
	esac
}

if [ "$(left)" -lt 5 ]; then
	put cases "$name" "left out: no time"
elif [ "$rest" = every ]; then
	every
else
	time=${rest%%"$tab"*} rest=${rest#*"$tab"} # then whether others may run beside it
	rest=${rest#*"$tab"} settings=${rest%%"$tab"*} rest=${rest#*"$tab"}
	set -f
	IFS=$tab
	# shellcheck disable=SC2086 # words with tabs between them
	set -- $rest
	unset IFS
	set +f
	one "$time" "$settings" "$@"
fi
cd / && rm -rf "$list.$number"
