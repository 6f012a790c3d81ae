/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/406/rule_406_bad.c"
