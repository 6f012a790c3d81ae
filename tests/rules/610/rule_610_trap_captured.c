/* SPDX-License-Identifier: MIT */
#define VARIANT CAPTURED
#include "tests/rules/610/rule_610_trap_workspace.c"
