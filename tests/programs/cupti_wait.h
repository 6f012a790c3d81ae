/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_CUPTI_WAIT_H
#define TFS_TESTS_PROGRAMS_CUPTI_WAIT_H

/* tfshim opens CUPTI beside the program, some time after its first call of CUDA. */

#include <dlfcn.h>
#include <unistd.h>

/* Waits until it did, or for a second where it does not. */
static inline void cupti_wait(void)
{
	for (int i = 0; i < 100 && dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD) == NULL; i++)
		usleep(10000);
	usleep(50000);
}

#endif
