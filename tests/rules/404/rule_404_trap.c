/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/404/rule_404_bad.c"
