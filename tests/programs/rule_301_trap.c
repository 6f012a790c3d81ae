/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_301_bad.c"
