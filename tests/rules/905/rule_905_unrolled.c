/* SPDX-License-Identifier: MIT */
/* TFS905: 60 steps without a loop, so that they are not found. As advised, each says where it
 * begins.
 */
#include "shim/tfshim.h"
#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* Each with call sites of its own. */
#define ONE                                                                                        \
	do {                                                                                       \
		if (VARIANT == ADVICE)                                                             \
			TFSHIM_STEP();                                                             \
		rule_upload(&r, step);                                                             \
		rule_forward(&r, step);                                                            \
		rule_backward(&r, step, 0);                                                        \
		rule_update(&r);                                                                   \
		step++;                                                                            \
	} while (0)
#define FOUR                                                                                       \
	ONE;                                                                                       \
	ONE;                                                                                       \
	ONE;                                                                                       \
	ONE
#define TWENTY                                                                                     \
	FOUR;                                                                                      \
	FOUR;                                                                                      \
	FOUR;                                                                                      \
	FOUR;                                                                                      \
	FOUR

int main(void)
{
	unsigned step = 0;
	struct rule r;

	rule_init(&r);
	TWENTY;
	TWENTY;
	TWENTY;
	rule_finish(&r);
	return 0;
}
