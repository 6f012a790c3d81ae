/* SPDX-License-Identifier: MIT */
/* TFS303, a trap: small kernels that may update parameters, as no argument of them tells what they
 * work on, of another shape each. */
/* unmeasured: TFS303 */
#define SHAPES 8
#include "tests/rules/304/rule_304_trap_unseen.c"
