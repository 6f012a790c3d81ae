/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/608/rule_608_bad.c"
