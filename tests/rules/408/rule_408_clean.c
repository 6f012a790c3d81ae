/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/408/rule_408_bad.c"
