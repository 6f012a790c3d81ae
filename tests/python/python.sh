#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs in Python: python.sh SHIM PROGRAMS SIM INTERPRETER
set -u

shim=$1
programs=$2
simulated=$3
interpreter=$4
here=$(dirname "$0")
# shellcheck source=tests/life/shim_common.sh
. "$here/../life/shim_common.sh"

# The interpreter itself, and not what chooses one. Of pyenv's, one that is installed but not chosen.
own_path='import ctypes, sys; print(sys.executable)'
version=${interpreter#python}
python=$("$interpreter" -c "$own_path" 2>/dev/null) ||
	python=$(PYENV_VERSION=$(pyenv latest "$version" 2>/dev/null) "$interpreter" -c "$own_path" 2>/dev/null) ||
	skip "no $interpreter with ctypes"
LD_LIBRARY_PATH=$simulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE
echo "$("$python" -V) at $python"

# Call sites are lines of Python, each with all of its calls and no others.
compare shapes '' "$python" "$here/python_shapes.py" "$programs/libpython_worker.so" "$work/table"
[ "$(cat "$work/shapes.status")" = 3 ] || fail "shapes ends with $(cat "$work/shapes.status")"
look shapes
known='import sys, sysconfig
print(9 <= sys.version_info[1] <= 14 and not sysconfig.get_config_var("Py_GIL_DISABLED"))'
if [ "$("$python" -c "$known")" = False ]; then
	expect shapes fact python "not a version whose call stacks can be read; call sites are those of C code"
	! "$programs/python_sites" "$work/shapes.tfs" | grep ' | ' || fail "frames of Python, of a version not known"
	exit "$failed"
fi
expect shapes lost 0
[ "$(value shapes lost)" = 0 ] || grep "^lost_.* [1-9]" "$work/shapes.look"
"$programs/python_sites" "$work/shapes.tfs" | grep -E '^cudaMemset' | sort >"$work/sites"
sort "$work/table" >"$work/table-sorted"
if ! diff "$work/table-sorted" "$work/sites" >"$work/differs"; then
	fail "$(grep -c '^[<>]' "$work/differs") call sites differ (< expected, > recorded)"
	head -n 6 "$work/differs" | cut -c 1-400
fi
echo "$(wc -l <"$work/sites") call sites"
[ "$(wc -l <"$work/sites")" -gt 300 ] || fail "only $(wc -l <"$work/sites") call sites"

# Steps are found without marks, and rules name lines of the script.
for way in pageable pinned; do
	compare "$way" '' "$python" "$here/python_train.py" "$way"
	says "$way" '120 steps'
	"$tfshim" report -q "$work/$way.tfs" || fail "$way: no report"
	"$python" "$here/python_report.py" "$work/$way.json" "$way" || fail "$way: the report is wrong"
done
tr -s '\n ' ' ' <"$work/pageable.txt" | grep -q "python_train.py:[0-9]* (load)" || fail "no line of Python in the text"
grep -q "^program  .*python_train.py (.*, run by " "$work/pageable.txt" || fail "no script in the text"
grep -q "C code that Python called" "$work/pageable.html" || fail "no C frames are folded on the page"

# A thread without Python code is the backward pass where its stack says so, and only there.
if [ -f "$programs/libpython_engine.so" ]; then
	compare backward '' "$python" "$here/python_backward.py" run "$programs/libpython_engine.so"
	says backward ran
	"$tfshim" report -q "$work/backward.tfs" || fail "backward: no report"
	"$python" "$here/python_backward.py" check "$work/backward.json" || fail "backward: the report is wrong"
fi
# However a program ends, or what it starts, it does so as without the library.
for way in daemon workers fork interrupted raised killed hard; do
	compare "$way" '' "$python" "$here/python_ends.py" "$way" "$programs/libpython_worker.so"
done
says workers 'spawn [0, 1, 4, 9, 16, 25]'
says fork 'child ended with 7'
# An interpreter that comes and goes in a C program; a library is not there for every interpreter.
library=$("$python" -c 'import sysconfig as s; print(s.get_config_var("LIBDIR") + "/" + s.get_config_var("INSTSONAME"))')
if [ -f "$library" ] && [ "${library%.a}" = "$library" ]; then
	export PYTHONHOME
	PYTHONHOME=$("$python" -c 'import sys; print(sys.base_prefix)')
	after=$programs/../tools/stacks_first.so
	compare host '' "$programs/python_host" "$library"
	# 3.12 may fail at its second beginning, with or without the library.
	if [ "$(cat "$work/host-bare.status")" = 0 ]; then
		says host '3 interpreters'
		look host
		expect host total cudaDriverGetVersion 300
		"$programs/python_sites" "$work/host.tfs" | grep '^cudaDriverGetVersion ' >"$work/host-sites"
		grep -q ': <string>:5 step | <string>:7 <module>$' "$work/host-sites" || fail "$(cat "$work/host-sites")"
	fi
fi
exit "$failed"
