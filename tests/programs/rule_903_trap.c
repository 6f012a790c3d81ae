/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_903_bad.c"
