/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/103/rule_103_bad.c"
