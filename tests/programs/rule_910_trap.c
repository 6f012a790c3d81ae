/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_910_bad.c"
