/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: a kernel between the calls gets its memory in a struct. */
/* unmeasured: TFS306 */
#define HIDDEN 1
#include "tests/rules/306/rule_306_bad.c"
