/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/rule_101_bad.c"
