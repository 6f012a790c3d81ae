/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDA_HANDLE_H
#define TFS_TESTS_SIM_CUDA_HANDLE_H

/*
 * Context handles of the simulated driver, which its CUPTI must tell too: one primary context per
 * device, as a number that is no address. (Streams, events and the like are the core's own.)
 */

#include <cuda.h>
#include <stdint.h>

#define SIM_CONTEXT_BASE 0x7f51c000u

/* The primary context of a device. */
static inline CUcontext sim_context_handle(int device)
{
	return (CUcontext)(uintptr_t)(SIM_CONTEXT_BASE + 16u * ((unsigned)device + 1));
}

/* The device of a context; -1 when it is not one of ours. */
static inline int sim_context_device(CUcontext context, int device_count)
{
	uintptr_t number = (uintptr_t)context - SIM_CONTEXT_BASE;

	if (number % 16 || number / 16 < 1 || number / 16 > (uintptr_t)device_count)
		return -1;
	return (int)(number / 16) - 1;
}

#endif
