/* SPDX-License-Identifier: MIT */
/* TFS606, a trap: a kernel in a graph is named as cuDNN names what changes a layout. */
/* unmeasured: TFS606 */
#define GRAPH 1
#include "tests/rules/606/rule_606_trap_own.c"
