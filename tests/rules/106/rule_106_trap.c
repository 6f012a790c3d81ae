/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/106/rule_106_bad.c"
