/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/rule_203_bad.c"
