/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: before those of which nothing is seen, one launch of the row works on what it
 * names. */
/* unmeasured: TFS304 */
#define SEEN 1
#include "tests/rules/304/rule_304_trap_unseen.c"
