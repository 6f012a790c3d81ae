/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/programs/rule_904_bad.c"
