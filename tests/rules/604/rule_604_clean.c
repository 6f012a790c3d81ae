/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/604/rule_604_bad.c"
