/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/406/rule_406_bad.c"
