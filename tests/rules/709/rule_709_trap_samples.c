/* SPDX-License-Identifier: MIT */
#define VARIANT 6
/* unmeasured: TFS709 */
#include "tests/rules/709/rule_709_bad.c"
