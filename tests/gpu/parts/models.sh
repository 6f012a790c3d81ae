# SPDX-License-Identifier: MIT
# Trainings in PyTorch and JAX as people write them: the library changes neither what they compute
# nor how they end, and does the report find what is wrong with each (torch_models.py)?
. "$GPU_HERE/common.sh"

# model SETTINGS WORD...: its status; what it says is in model.out
model() {
	missing=$GPU_WORK/torch-libraries
	[ -d "$missing" ] || { mkdir "$missing" && link_missing "$missing" "$GPU_ROOT/lib"; }
	settings=$1
	shift
	# shellcheck disable=SC2086 # words
	limited 60 env LD_LIBRARY_PATH="$missing${GPU_OWN_PATH:+:$GPU_OWN_PATH}" XLA_PYTHON_CLIENT_PREALLOCATE=false \
		$settings python3 "$@" >model.out 2>model.err
}

# said WHAT: from the line that the model prints
said() {
	sed -n "s/^time: .*$1 \\([^ ,]*\\).*/\\1/p" model.out
}

# compare NAME WORD...: alone, watched, and with the library's defaults
compare() {
	name=$1
	shift
	[ -z "$GPU_CASES" ] || echo "$name" | grep -qE "^($GPU_CASES)" || return 1
	[ "$(left)" -ge 30 ] || { put models "$name" "left out: no time"; return 1; }
	for how in alone watched default; do
		settings=TFSHIM_DISABLE=1
		[ $how = alone ] || settings="LD_PRELOAD=$shim TFSHIM_OUTPUT=$PWD/$name-$how TFSHIM_OPTIONS=report=0:quiet=1"
		[ $how != watched ] || settings="$settings TFSHIM_REWRITE=off"
		model "$settings" "$@"
		status=$?
		if [ "$status" != 0 ] || { [ $how != alone ] && ! cmp -s model.err alone.err; }; then
			[ "$(left)" -gt 2 ] || { put models "$name" "left out: no time"; return 1; }
			[ $how = alone ] && what=skipped || what=FAILED
			put models "$name $how" "$what: status $status: $(last_words model.err)"
			echo "== $name, $how: status $status"
			cat model.out model.err
			[ "$status" = 0 ] || return 1
		fi
		cp model.err "$how.err"
		put model-times "$name $how" "$(said step)"
		put models "$name $how loss" "$(said loss)"
	done
	for how in watched default; do
		limited 60 "$tfshim" report --quiet "$name-$how.tfs" >report.out 2>&1 ||
			{ put models "$name" "FAILED: no report: $(last_words report.out)"; return 1; }
		put models "$name $how headline" "$(head -n 1 "$name-$how.txt")"
		cp "$name-$how.txt" "$GPU_RECORDINGS/model-$name-$how.txt"
		cp "$name-$how.json" "$GPU_RECORDINGS/model-$name-$how.json"
	done
	cp "$name-watched.tfs" "$GPU_RECORDINGS/model-$name.tfs"
	put models "$name findings" "$(sed -n 's/^ *[0-9]*\. . [a-z]* *\(TFS[0-9]*\) [^ ]* *\([^ ]*\).*/\1@\2/p' "$name-watched.txt" | sort | tr '\n' ' ')"
}

if ! own limited 60 python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >model.out 2>&1; then
	put models models "skipped: no PyTorch that sees a GPU here: $(last_words model.out 1)"
	exit 0
fi
steps=200
[ -z "$GPU_QUICK" ] || steps=60
for model in $(python3 "$GPU_HERE/torch_models.py" names); do
	compare "$model" "$GPU_HERE/torch_models.py" "$model" $steps || continue
	python3 "$GPU_HERE/torch_models.py" judge "$model" "$model-watched.json" >judged
	while IFS= read -r line; do
		put judged "$model" "FAILED: $line"
	done <judged
	rm -f "$model"-*
done
if own python3 -c 'import jax' >model.out 2>&1; then
	compare jax "$GPU_HERE/jax_step.py" $steps
else
	put models jax "skipped: $(last_words model.out 1)"
fi
clocks
exit 0
