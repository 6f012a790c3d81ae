/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/104/rule_104_bad.c"
