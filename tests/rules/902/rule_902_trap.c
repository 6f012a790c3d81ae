/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/902/rule_902_bad.c"
