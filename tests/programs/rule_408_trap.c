/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_408_bad.c"
