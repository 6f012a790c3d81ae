/* SPDX-License-Identifier: MIT */
#define VARIANT LARGE
#include "tests/rules/610/rule_610_trap_workspace.c"
