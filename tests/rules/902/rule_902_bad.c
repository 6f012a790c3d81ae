/* SPDX-License-Identifier: MIT */
/* TFS902: the program limits the size of its files to 1 MB, so that the recording is cut short. The
 * clean twin does not; the trap limits its open files, which takes nothing from the recording. */
#include <sys/resource.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

int main(void)
{
	const struct rlimit bytes = {1 << 20, 1 << 20}, files = {64, 64};
	struct rule r;

	if (VARIANT == BAD && setrlimit(RLIMIT_FSIZE, &bytes))
		return 1;
	if (VARIANT == TRAP && setrlimit(RLIMIT_NOFILE, &files))
		return 1;
	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
		for (int i = 0; i < 400; i++)
			(void)cudaStreamQuery(r.stream);
	}
	rule_finish(&r);
	return 0;
}
