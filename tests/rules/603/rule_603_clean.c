/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/603/rule_603_bad.c"
