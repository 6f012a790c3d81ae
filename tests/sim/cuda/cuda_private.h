/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDA_PRIVATE_H
#define TFS_TESTS_SIM_CUDA_PRIVATE_H

/*
 * The simulated driver: the core's semantics under the driver's names. To add a function: a block
 * with SIM_DRIVER() in the file of its subject; names without one answer "not supported". Old ABIs
 * of a name are separate symbols, so the header must not rename anything.
 */

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"
#include "tests/sim/cuda/cuda_handle.h"

#define SIM_DRIVER_VERSION 13000

/*
 * Defines one driver function: framed for CUPTI, refused without cuInit and a current context, its
 * result the runtime error number that `work` gives. `none` is what stream 0 means.
 */
#define SIM_DRIVER_AS(name, default_stream, parameters, work)                                      \
	CUresult name parameters                                                                   \
	{                                                                                          \
		const CUstream none = (default_stream);                                            \
		struct tfsim_api api;                                                              \
		CUresult result;                                                                   \
                                                                                                   \
		(void)none;                                                                        \
		tfsim_api_enter(                                                                   \
			&api, TFSIM_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name, NULL);      \
		result = sim_driver_ready();                                                       \
		if (result == CUDA_SUCCESS)                                                        \
			result = sim_driver_result((int)(work));                                   \
		tfsim_api_exit(&api, (int)result);                                                 \
		return result;                                                                     \
	}

#define SIM_DRIVER(name, parameters, work) SIM_DRIVER_AS(name, NULL, parameters, work)

/* The function and its twin, for which stream 0 is the calling thread's own. */
#define SIM_DRIVER_TWINS(name, suffix, parameters, work)                                           \
	SIM_DRIVER_AS(name, NULL, parameters, work)                                                \
	SIM_DRIVER_AS(name##suffix, CU_STREAM_PER_THREAD, parameters, work)

static inline void *sim_pointer(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

/* cuda_context.c: CUDA_SUCCESS when the thread may call; makes its context's device current. */
CUresult sim_driver_ready(void);
bool sim_driver_initialised(void);
/* The driver's number for a runtime error: theirs are the same but for the runtime's own. */
CUresult sim_driver_result(int error);
int sim_driver_current_device(void);

#endif
