/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/605/rule_605_bad.c"
