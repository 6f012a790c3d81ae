/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_203_bad.c"
