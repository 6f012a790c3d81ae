/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/903/rule_903_bad.c"
