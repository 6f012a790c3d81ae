# SPDX-License-Identifier: MIT
# Every test program, unchanged: what passes on the simulated device, does it pass on this one?
# Several run at the same time, as they do in the tests; what fails so has a second try alone, and
# those whose costs are compared with other runs' are alone anyway (case.sh).
. "$GPU_HERE/common.sh"

# Costs are compared: at the modelled pace, where the device is the simulated one.
unset TFSIM_PACE
cases=$GPU_BUILD/../tests/gpu/cases.tsv
if [ ! -f "$cases" ]; then
	cases=$PWD/cases.tsv
	python3 "$GPU_HERE/cases.py" "$GPU_BUILD" "$GPU_ROOT" >"$cases" || exit 1
fi
list=$PWD/list
if [ -n "$GPU_QUICK" ]; then
	grep -E '^(sim_memory|lib_gemm|cupti_records|rule-904|shim-errno)	' "$cases" >"$list"
	echo 'rewrite_stack	every' >>"$list"
else
	cat "$cases" >"$list"
	for program in "$rewrites"/rewrite_*; do
		if [ ! -x "$program" ] || [ -d "$program" ] || [ -n "$(lacks "$program")" ]; then
			continue
		fi
		echo "${program##*/}	every" >>"$list"
	done
fi
if [ -n "$GPU_CASES" ]; then
	grep -E "^($GPU_CASES)" "$list" >"$list.some"
	mv "$list.some" "$list"
fi
# Scripts ask for less where no mood of the device can be asked for.
[ -n "$GPU_SIMULATED" ] || export TFSHIM_HARDWARE=1

jobs=$(($(nproc) / 2))
[ "$jobs" -ge 1 ] || jobs=1
[ "$jobs" -le 8 ] || jobs=8
: >"$list.again"
awk -F '\t' '$3 != "alone" { print NR }' "$list" | xargs -r -P "$jobs" -n 1 sh "$GPU_HERE/case.sh" "$list"
for number in $(awk -F '\t' '$3 == "alone" { print NR }' "$list"); do
	sh "$GPU_HERE/case.sh" "$list" "$number"
done
for number in $(sort -un "$list.again"); do
	sh "$GPU_HERE/case.sh" "$list" "$number" last
done
put parts "cases beside each other" "$jobs; $(sort -u "$list.again" | wc -l) had a second try alone"
exit 0
