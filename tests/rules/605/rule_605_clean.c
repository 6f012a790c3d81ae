/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/605/rule_605_bad.c"
