/* SPDX-License-Identifier: MIT */
#define VARIANT 7
#include "tests/rules/709/rule_709_bad.c"
