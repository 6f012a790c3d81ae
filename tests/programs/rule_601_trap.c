/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_601_bad.c"
