/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/rule_202_bad.c"
