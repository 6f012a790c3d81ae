/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/903/rule_903_bad.c"
