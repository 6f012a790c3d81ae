/* SPDX-License-Identifier: MIT */
#define VARIANT 5
#include "tests/rules/604/rule_604_bad.c"
