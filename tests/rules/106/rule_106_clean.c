/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/106/rule_106_bad.c"
