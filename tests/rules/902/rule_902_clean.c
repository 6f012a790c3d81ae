/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/902/rule_902_bad.c"
