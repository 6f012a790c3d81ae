/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/303/rule_303_bad.c"
