/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/604/rule_604_bad.c"
