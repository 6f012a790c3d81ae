/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/701/rule_701_bad.c"
