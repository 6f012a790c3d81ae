/* SPDX-License-Identifier: MIT */
/* TFS204, the trap: all work is on the legacy stream, and of one chain beside that of the trainer.
 */
#define CHAINS 1
#include "tests/rules/204/rule_204_trap_chains.c"
