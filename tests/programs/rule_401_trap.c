/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_401_bad.c"
