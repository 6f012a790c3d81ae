/* SPDX-License-Identifier: MIT */
/* unmeasured: TFS610 */
#define VARIANT FULL
#include "tests/rules/610/rule_610_trap_workspace.c"
