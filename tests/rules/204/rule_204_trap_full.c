/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: products of two streams share no memory, but each fills the device. */
#define FULL 1
#include "tests/rules/204/rule_204_bad.c"
