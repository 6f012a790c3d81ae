/* SPDX-License-Identifier: MIT */
/* TFS103, a trap: two devices work, and what one computes is not beside what the other copies. */
#define VARIANT BAD
/* unmeasured: TFS103 */
#define TWO 1
#include "tests/rules/103/rule_103_bad.c"
