/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDA_HANDLE_H
#define TFS_TESTS_SIM_CUDA_HANDLE_H

/*
 * Context handles of the simulated driver, which its CUPTI must tell too: a number that is no
 * address, from the device and a count; 0 is the primary context. (Streams, events and the like
 * are the core's own.)
 */

#include <cuda.h>
#include <stdint.h>

#define SIM_CONTEXT_BASE 0x7f51c000u
#define SIM_CONTEXT_DEVICES 16

static inline CUcontext sim_context_numbered(int device, unsigned number)
{
	return (CUcontext)(uintptr_t)(SIM_CONTEXT_BASE +
				      16u * (1 + (unsigned)device + SIM_CONTEXT_DEVICES * number));
}

/* The primary context of a device. */
static inline CUcontext sim_context_handle(int device)
{
	return sim_context_numbered(device, 0);
}

static inline unsigned sim_context_number(CUcontext context)
{
	return (unsigned)(((uintptr_t)context - SIM_CONTEXT_BASE) / 16 - 1) / SIM_CONTEXT_DEVICES;
}

/* The device of a context; -1 when it is not one of ours. */
static inline int sim_context_device(CUcontext context, int device_count)
{
	uintptr_t offset = (uintptr_t)context - SIM_CONTEXT_BASE;
	int device = (int)((offset / 16 - 1) % SIM_CONTEXT_DEVICES);

	if (offset % 16 || offset < 16 || offset > 1u << 20 || device >= device_count)
		return -1;
	return device;
}

#endif
