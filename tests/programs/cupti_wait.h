/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_CUPTI_WAIT_H
#define TFS_TESTS_PROGRAMS_CUPTI_WAIT_H

/* tfshim takes CUPTI beside the program, some time after its first call of CUDA. */

#include <unistd.h>

#include "shim/tfshim.h"

/* Waits until it did, or for a second where it does not. */
static inline void cupti_wait(void)
{
	for (int i = 0; i < 100 && tfshim_cupti && !tfshim_cupti(1); i++)
		usleep(10000);
}

#endif
