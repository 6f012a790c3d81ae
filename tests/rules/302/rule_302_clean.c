/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/302/rule_302_bad.c"
