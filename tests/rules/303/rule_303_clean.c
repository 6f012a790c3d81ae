/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/303/rule_303_bad.c"
