/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_902_bad.c"
