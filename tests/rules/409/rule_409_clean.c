/* SPDX-License-Identifier: MIT */
#define VARIANT CLEAN
#include "tests/rules/409/rule_409_bad.c"
