/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: two chains of kernels that fill the device. */
#define EACH 32768
#include "tests/rules/204/rule_204_trap_chains.c"
