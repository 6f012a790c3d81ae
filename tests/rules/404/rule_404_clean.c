/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/404/rule_404_bad.c"
