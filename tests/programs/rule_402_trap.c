/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_402_bad.c"
