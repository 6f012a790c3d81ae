/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/603/rule_603_bad.c"
