/* SPDX-License-Identifier: MIT */
/* TFS105, a trap: what is copied stays the same for many steps, and then does not any more. */
/* unmeasured: TFS105 */
#define VARIANT TRAP
#define SINCE 30
#include "tests/rules/105/rule_105_bad.c"
