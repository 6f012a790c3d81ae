/* SPDX-License-Identifier: MIT */
#define VARIANT TRAP
#include "tests/programs/rule_905_bad.c"
