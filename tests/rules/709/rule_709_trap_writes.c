/* SPDX-License-Identifier: MIT */
#define VARIANT 10
/* unmeasured: TFS709 */
#include "tests/rules/709/rule_709_bad.c"
