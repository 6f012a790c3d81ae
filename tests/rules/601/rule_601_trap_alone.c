/* SPDX-License-Identifier: MIT */
/* TFS601, a trap: the same two convolutions, but a program that searches is left to it from then
 * on: nobody searches the other one's algorithm, and that the first one's was says nothing of it.
 */
/* unmeasured: TFS601 */
#define WARM 0
#include "tests/rules/601/rule_601_trap_first.c"
