/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_CUPTI_WAIT_H
#define TFS_TESTS_PROGRAMS_CUPTI_WAIT_H

/* tfshim takes CUPTI beside the program, some time after its first call of CUDA. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/tfshim.h"

/* Waits until it did; not where it is not to. */
static inline void cupti_wait(void)
{
	const char *options = getenv("TFSHIM_OPTIONS");
	const char *simulated = getenv("TFSIM_CUPTI");
	const bool never = (options && strstr(options, "cupti=0")) ||
			   (simulated && strcmp(simulated, "refuse") == 0);

	for (int i = 0; i < 500 && !never && tfshim_cupti && !tfshim_cupti(1); i++)
		usleep(10000);
}

#endif
