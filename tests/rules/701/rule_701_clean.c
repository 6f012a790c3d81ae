/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/701/rule_701_bad.c"
