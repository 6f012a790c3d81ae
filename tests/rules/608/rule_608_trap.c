/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/608/rule_608_bad.c"
