/* SPDX-License-Identifier: MIT */
/* TFS306, the trap: experts of two layers with a ReLU between them, of the same shapes. */
#define BETWEEN BY_RELU
#include "tests/rules/306/rule_306_bad.c"
