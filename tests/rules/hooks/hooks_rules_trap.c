/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/hooks/hooks_rules_bad.c"
