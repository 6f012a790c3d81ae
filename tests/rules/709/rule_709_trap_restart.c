/* SPDX-License-Identifier: MIT */
#define VARIANT 9
#include "tests/rules/709/rule_709_bad.c"
