# SPDX-License-Identifier: MIT
# For the scripts that try the gate on trainers that run: SCRIPT TFSHIM FOLDER_OF_TRAINERS SIM_FOLDER;
# sourced. They work in a folder of their own.
# shellcheck shell=sh
# shellcheck source=tests/reports/common.sh
. "$(dirname "$0")/common.sh"

tfshim=$(realpath "$1")
trainers=$(realpath "$2")
sim=$(realpath "$3")
if readelf -dW "$(dirname "$tfshim")/../shim/libtfshim.so" 2>/dev/null | grep -q 'libasan'; then
	echo "skipped: a library built with AddressSanitizer cannot be preloaded into programs without"
	exit 77
fi
if ! ldd "$tfshim" | grep -q libdw; then
	echo "skipped: without libdw there are no names that could change"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for name in $(env | sed -n 's/^\(TFSHIM_[A-Z]*\|TFSIM_[A-Z]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID
# Only modelled times, and nothing to compute.
export LD_LIBRARY_PATH="$sim" TFSIM_PROFILE=a100 TFSIM_COMPUTE=0
cases=0

# expect STATUS COMMAND ARGUMENT...: of tfshim
expect() {
	want=$1
	shift
	cases=$((cases + 1))
	first=
	[ "$1" != run ] || [ -n "${TFSHIM_DISABLE-}" ] || first=$trainers/../tools/stacks_first.so
	# Whether the GPU waits for the host hangs on what else this machine does.
	case "$*" in
	*--ignore* | *--select*) ;;
	check*--baseline*) set -- "$@" --ignore TFS302,TFS701 ;;
	esac
	LD_PRELOAD=$first timeout 60 "$tfshim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "'$*' ended with $got, not $want"
}

says() {
	grep -qe "$1" out err || wrong "'$1' is not said"
}

silent() {
	! grep -qe "$1" out err || wrong "'$1' is said"
}
