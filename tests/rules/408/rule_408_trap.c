/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/408/rule_408_bad.c"
