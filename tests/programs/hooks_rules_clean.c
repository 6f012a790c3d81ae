/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/hooks_rules_bad.c"
