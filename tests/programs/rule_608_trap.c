/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_608_bad.c"
