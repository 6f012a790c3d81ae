#!/bin/sh
# SPDX-License-Identifier: MIT
# sim_summary.sh PROGRAM: the run's last line counts what was skipped and what is not supported,
# and there is no line when there is nothing to say.
fail() { echo "$0: $1"; exit 1; }
said=$("$1" odd 2>&1 >/dev/null) || fail "the program failed: $said"
case $said in
"tfsim: 3 kernels skipped (unknown), 2 calls not supported (cudaIpcGetMemHandle), "*) ;;
*) fail "it says '$said'" ;;
esac
said=$("$1" 2>&1 >/dev/null) || fail "the program failed: $said"
[ -z "$said" ] || fail "it says '$said' about an ordinary run"
