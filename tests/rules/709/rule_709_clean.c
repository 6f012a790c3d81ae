/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/709/rule_709_bad.c"
