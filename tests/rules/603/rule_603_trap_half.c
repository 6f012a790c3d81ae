/* SPDX-License-Identifier: MIT */
#define VARIANT 5
#include "tests/rules/603/rule_603_bad.c"
