/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/hooks/hooks_rules_bad.c"
