/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/hooks_rules_bad.c"
