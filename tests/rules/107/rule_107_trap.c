/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/107/rule_107_bad.c"
