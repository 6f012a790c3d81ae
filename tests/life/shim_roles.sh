#!/bin/sh
# SPDX-License-Identifier: MIT
# What kernels only read is known by their names: shim_roles.sh SHIM PROGRAMS MLP DATA
set -u

shim=$1
programs=$2
# shellcheck source=tests/life/shim_common.sh
. "$(dirname "$0")/shim_common.sh"

# uses KERNEL ROLES: of each of its launches
uses() {
	got=$(awk -v start="roles $1" 'index($0, start) == 1 { $1 = $2 = ""; print }' \
		"$work/mlp.look" | sort -u | tr '\n' ',')
	[ "$got" = "  $2," ] || fail "$1 has the roles$got not $2"
}

watched mlp record=all "$3" --data "$4" --steps 3
look mlp
uses _Z8bias_add 'maybe read'
uses _Z3sgd 'maybe read'
uses _Z4relu 'maybe'
exit "$failed"
