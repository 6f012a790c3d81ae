/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/rules/409/rule_409_bad.c"
