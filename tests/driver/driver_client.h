/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_DRIVER_CLIENT_H
#define TFS_TESTS_PROGRAMS_DRIVER_CLIENT_H

/* The parts of a CUDA runtime that is linked into the program; see driver_client_runtime.c. */

#include <cuda_runtime_api.h>
#include <stddef.h>

#define LOCAL __attribute__((visibility("hidden"), noinline))

/* Every function of the driver's at every version of it that cudaTypedefs.h knows; made by
 * driver_names.py. */
struct driver_name {
	const char *name;
	int version;
};

extern const struct driver_name driver_names[];
extern const size_t driver_names_count;

struct client_launch {
	dim3 grid, block;
	void **arguments;
	size_t shared;
	cudaStream_t stream;
};

/* Starts the driver, once; its answer. */
LOCAL int client_start(void);

LOCAL cudaError_t client_launch(cudaKernel_t kernel, const struct client_launch *launch);

#endif
