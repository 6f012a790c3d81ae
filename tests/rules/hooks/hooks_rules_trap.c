/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
/* unmeasured: TFS105 TFS106 */
#include "tests/rules/hooks/hooks_rules_bad.c"
