/* SPDX-License-Identifier: MIT */
#define VARIANT 5
#include "tests/rules/610/rule_610_bad.c"
