/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: it is not seen what kernels of two chains work on. */
/* unmeasured: TFS204 */
#define EACH 2048
#define HIDDEN 1
#include "tests/rules/204/rule_204_trap_chains.c"
