/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDA_PROC_H
#define TFS_TESTS_SIM_CUDA_PROC_H

/* The table behind cuGetProcAddress, made by cuda_procs.py. Needs no header of CUDA's. */

#include <stdbool.h>

/* One ABI of a driver function; sorted by name, then newest first. */
struct sim_proc {
	const char *name;
	int version;     /* the CUDA version that brought it: 1000 * major + 10 * minor */
	bool per_thread; /* takes stream 0 as the calling thread's own */
	int (*function)(void);
};

extern const struct sim_proc sim_procs[];
extern const unsigned sim_proc_count;

#endif
