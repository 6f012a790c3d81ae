/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_101_bad.c"
