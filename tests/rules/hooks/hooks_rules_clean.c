/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
/* unmeasured: TFS105 TFS106 */
#include "tests/rules/hooks/hooks_rules_bad.c"
