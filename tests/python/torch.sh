#!/bin/sh
# SPDX-License-Identifier: MIT
# An unmodified PyTorch on the simulated device: torch.sh SHIM PROGRAMS SIM [WAYS]
# Its wheel (0.5 GB to download, 1.2 GB unpacked) is kept in $XDG_CACHE_HOME/tfshim/torch.
set -u

shim=$1
programs=$2
simulated=$3
ways=${4:-none plain workers profiled}
here=$(dirname "$0")
version=2.15.0
others='typing_extensions sympy networkx jinja2 fsspec filelock mpmath MarkupSafe'
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tfshim/torch
# shellcheck source=tests/life/shim_common.sh
. "$here/../life/shim_common.sh"

# Loading it takes a busy machine a minute.
bare() {
	name=$1
	shift
	timeout -k 5 900 "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null
	echo $? >"$work/$name.status"
}

# The wheel into $cache/FOLDER, complete or not at all.
fetch() {
	[ ! -d "$cache/$1" ] || return 0
	mkdir -p "$cache" && tmp=$(mktemp -d "$cache/.tmp.XXXXXX") || return 1
	# shellcheck disable=SC2086 # several words
	if timeout 1800 "$python" -m pip download -q --timeout 15 --retries 1 --no-deps --no-cache-dir \
		--only-binary=:all: -d "$tmp/wheels" "torch==$version" $others </dev/null >"$work/pip" 2>&1 &&
		"$python" -c 'import glob, sys, zipfile
for path in glob.glob(sys.argv[1] + "/wheels/*.whl"):
    zipfile.ZipFile(path).extractall(sys.argv[1] + "/all")' "$tmp"; then
		mv "$tmp/all" "$cache/$1"
	fi
	rm -rf "$tmp"
	[ -d "$cache/$1" ]
}

command -v readelf >/dev/null || skip "no readelf"
python=$(python3 -c 'import ctypes, sys; print(sys.executable)') || skip "no python3 with ctypes"
folder=$version-$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
fetch "$folder" || skip "cannot fetch PyTorch $version: $(grep -v '^WARNING' "$work/pip" | tail -n 1)"
mkdir "$work/missing"
"$python" "$here/torch_stubs.py" "$cache/$folder/torch/lib" "$simulated" "$work/missing" "${CC:-cc}" ||
	fail "no stand-ins for what the simulated device lacks"
LD_LIBRARY_PATH=$simulated:$work/missing${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH PYTHONPATH="$cache/$folder" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
after=$work/missing/rest.so

# trains NAME WORKERS plain|profiled SAYS
trains() {
	echo "$1"
	bare "$1-bare" env LD_PRELOAD="$after" "$python" "$here/torch_train.py" "$2" "$3"
	watched "$1" '' "$python" "$here/torch_train.py" "$2" "$3"
	# PyTorch's profiler says when it starts, and in which process.
	sed -i 's/^USDT:[-0-9]* [0-9:]* [0-9]*:[0-9]* /USDT: /' "$work/$1.err" "$work/$1-bare.err"
	same "$1" "$1-bare"
	says "$1" "$4"
	"$tfshim" report -q "$work/$1.tfs" || fail "$1: no report"
}

# report NAME
report() {
	"$python" "$here/torch_report.py" "$work/$1.json" || fail "$1: the report is wrong"
	grep -q "torch_train.py:[0-9]*  cudaStreamSynchronize" "$work/$1.txt" || fail "$1: no line of Python in the text"
}

for way in $ways; do
	case $way in
	none) TFSIM_DEVICES=0 trains none 0 plain 'no device' ;;
	plain) trains plain 0 plain '120 steps' ;;
	workers) trains workers 2 plain '120 steps' ;;
	profiled) trains profiled 0 profiled 'profiled True' ;;
	esac
	[ "$way" = none ] || report "$way"
done
exit "$failed"
