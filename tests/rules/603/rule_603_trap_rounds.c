/* SPDX-License-Identifier: MIT */
/* The same with an engine that rounds to TF32. */
#define ROUNDS 1
#include "tests/rules/603/rule_603_trap_plans.c"
