/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/107/rule_107_bad.c"
