/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/rule_201_bad.c"
