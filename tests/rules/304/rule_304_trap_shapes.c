/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: a small kernel of which it is not seen what it works on is launched 64 times, but
 * with another shape each time: one launch of it cannot do for all. */
#define SHAPES 8
#include "tests/rules/304/rule_304_trap_unseen.c"
