/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/104/rule_104_bad.c"
