/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/302/rule_302_bad.c"
