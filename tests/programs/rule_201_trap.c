/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_201_bad.c"
