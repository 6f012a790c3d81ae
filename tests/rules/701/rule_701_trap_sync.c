/* SPDX-License-Identifier: MIT */
/* TFS701: the device is idle while the next batch is made, as the host waited for the device
 * before; it takes less time than the device's work, beside which it would go on without the wait.
 */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

int main(void)
{
	struct rule r;

	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		/* expect: TFS201 x1 stream 13 1.82..2.34ms */
		NEED(cudaStreamSynchronize(r.stream));
	}
	rule_finish(&r);
	return 0;
}
