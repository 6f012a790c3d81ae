/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_PROFILE_H
#define TFS_TESTS_SIM_CORE_PROFILE_H

/*
 * What the modelled machine costs: TFSIM_PROFILE names one of the tables below. A profile is a
 * model: its figures come from recordings of real GPUs, from published measurements or from data
 * sheets, and each table says which.
 *
 * To add a profile: profile_<name>.c, which defines `const struct sim_profile sim_profile_<name>`,
 * and its name in the list `sim_profiles` of meson.build.
 */

#include <stdbool.h>
#include <stdint.h>

/* A cost that varies: half of the draws lie below the median, nine tenths below p90. */
struct sim_figure {
	double median_ns, p90_ns;
};

/* One call, and what each MiB adds. */
struct sim_sized {
	struct sim_figure call;
	double mib_ns;
};

/* One call, and what each node of a graph adds. */
struct sim_counted {
	struct sim_figure call;
	double each_ns;
};

/*
 * Host time of calls that give the device work, and what a wait costs beside the waiting.
 * LAUNCH_FIRST: the first launch of a kernel loads its code.
 */
#define SIM_CALLS(X)                                                                               \
	X(LAUNCH)                                                                                  \
	X(LAUNCH_FIRST)                                                                            \
	X(COPY)                                                                                    \
	X(STAGED) /* a copy from pageable memory, beside the copying itself */                     \
	X(FILL)                                                                                    \
	X(GRAPH)                                                                                   \
	X(HOST)                                                                                    \
	X(RECORD)                                                                                  \
	X(WAIT)                                                                                    \
	X(POOL)                                                                                    \
	X(STREAM_SYNC)                                                                             \
	X(EVENT_SYNC)                                                                              \
	X(DEVICE_SYNC)
#define SIM_CALL_ENUM(name) SIM_CALL_##name,
enum sim_call { SIM_CALLS(SIM_CALL_ENUM) SIM_CALL_COUNT };

/* Rates of the device, in bytes or operations per microsecond. */
#define SIM_RATES(X)                                                                               \
	X(MEMORY) /* kernels bound by memory: bytes read and written */                            \
	X(COPY)   /* device to device: bytes copied */                                             \
	X(FILL)   /* bytes set */                                                                  \
	X(SINGLE) /* float on plain cores */                                                       \
	X(TENSOR) /* float rounded to TF32 on tensor cores */                                      \
	X(HALF)   /* half or bfloat16 on tensor cores */                                           \
	X(DOUBLE)                                                                                  \
	X(PINNED_UP)                                                                               \
	X(PINNED_DOWN)                                                                             \
	X(PAGEABLE_UP)                                                                             \
	X(PAGEABLE_DOWN)                                                                           \
	X(MIGRATE)    /* managed memory, either way */                                             \
	X(PEER)       /* between devices over PCIe */                                              \
	X(NVLINK)     /* between devices over NVLink */                                            \
	X(COLLECTIVE) /* bus bandwidth of a collective, as NCCL's tests define it */
#define SIM_RATE_ENUM(name) SIM_RATE_##name,
enum sim_rate { SIM_RATES(SIM_RATE_ENUM) SIM_RATE_COUNT };

struct sim_profile {
	const char *name;
	double scale;         /* of every duration, where TFSIM_SCALE says nothing else */
	bool host_paced;      /* calls take their time on the host's clock too */
	uint64_t memory;      /* bytes of a device, where TFSIM_MEMORY says nothing else */
	uint64_t granularity; /* device memory is given out in multiples of this; 0: by 512 bytes */
	struct sim_figure call[SIM_CALL_COUNT];
	struct sim_figure
		latency;        /* from the start of a call to that of its work on an idle stream */
	struct sim_figure gap;  /* between operations that were queued */
	struct sim_figure tail; /* from the end of work to the return of who waited for it */
	double kernel_floor_ns, copy_floor_ns;
	double rate[SIM_RATE_COUNT];
	uint64_t staged;   /* bytes of a copy from pageable memory that may still be under way when
			      the call returns */
	double fresh_down; /* a copy to pages that do not exist yet takes so many times as long */
	struct sim_sized alloc_small, alloc, free_small, free; /* small: below 1 MiB */
	struct sim_sized pin, unpin, enroll,
		expel; /* cudaHostAlloc, FreeHost, Register, Unregister */
	struct sim_counted instantiate, update, discard; /* an executable graph */
	struct sim_figure fault; /* one group of managed pages that is where it is not wanted */
	struct sim_figure collective_latency;
	/* Kernels that leave part of the device idle run beside each other; without a number of
	   threads for each multiprocessor each has the device for itself. */
	unsigned multiprocessors, threads_each;
	double beside; /* a kernel that runs beside others takes so many times as long */
	/* What the device says of itself. */
	const char *device;
	int major, minor; /* compute capability */
	int clock_khz, memory_khz, bus_bits, cache_bytes;
	int shared_bytes; /* of a multiprocessor; a block may have 1 KiB less */
};

/* The profile of this name, or NULL. */
const struct sim_profile *sim_profile_find(const char *name);

/* A draw in unscaled nanoseconds; the same for the same salt. */
double sim_figure_draw(const struct sim_figure *figure, uint64_t salt);

#endif
