/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_904_bad.c"
