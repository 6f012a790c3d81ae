/* SPDX-License-Identifier: MIT */
/* TFS306, a trap: it is not seen what the kernel between the calls works on. What the second
 * product takes may be what that has made of the scores. */
/* unmeasured: TFS306 */
#define BETWEEN BY_UNSEEN
#include "tests/rules/306/rule_306_bad.c"
