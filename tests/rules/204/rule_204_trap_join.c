/* SPDX-License-Identifier: MIT */
/* TFS204, a trap: work of the legacy stream needs what was computed before, and is needed by what
 * comes behind. */
#define JOIN 1
#include "tests/rules/204/rule_204_bad.c"
