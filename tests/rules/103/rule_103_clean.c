/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/103/rule_103_bad.c"
