/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_202_bad.c"
