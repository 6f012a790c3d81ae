/* SPDX-License-Identifier: MIT */
/* TFS603, a trap: matrices of three columns. */
#define THIN 3
#include "tests/rules/603/rule_603_trap.c"
