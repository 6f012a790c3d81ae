/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/904/rule_904_bad.c"
