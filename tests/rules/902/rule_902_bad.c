/* SPDX-License-Identifier: MIT */
/* TFS902: the program limits the size of its files to 1 MB, so that the recording is cut short. The
 * clean twin does not; the trap limits its open files, which takes nothing from the recording. */
#include <sys/resource.h>
#include <unistd.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif

/* Before anything is recorded. */
__attribute__((constructor)) static void limit(void)
{
	const struct rlimit bytes = {1 << 20, 1 << 20}, files = {64, 64};

	if (VARIANT == BAD && setrlimit(RLIMIT_FSIZE, &bytes))
		_exit(1);
	if (VARIANT == TRAP && setrlimit(RLIMIT_NOFILE, &files))
		_exit(1);
}

int main(void)
{
	struct rule r;

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
