/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/904/rule_904_bad.c"
