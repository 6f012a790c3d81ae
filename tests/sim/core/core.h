/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_H
#define TFS_TESTS_SIM_CORE_H

/*
 * The simulated GPU: what every simulated library (cudart, cuDNN, cuBLAS, ...) builds on. The core
 * is libtfsim.so.0; the libraries link to it and never to each other's public names, so that a
 * preloaded shim sees the program's calls and nothing else.
 *
 * To add a library: tests/sim/<library>_*.c, one block in tests/sim/meson.build. A call that does
 * device work fills a struct tfsim_work (what it is, what it costs, a function that computes the
 * true result from an owned copy of its arguments) and gives it to tfsim_enqueue(); streams,
 * events, capture, hostile mode and CUPTI records then follow. A call that is exported but not
 * implemented answers its library's "not supported" and says so by tfsim_not_supported().
 *
 * Two clocks. Durations come from the cost model alone and are the same in every run.
 *  - Modelled time (cudaEventElapsedTime in the profile slow): decided when work is enqueued, from
 * durations, dependencies and a fixed cost per host call. The host's own work between calls counts
 * as nothing. Bit-for-bit the same in every run of a single-threaded program.
 *  - Shown time (activity records, when a wait returns): the same durations laid on
 *    CLOCK_MONOTONIC from the real moment of submission, so that records merge with host
 *    timestamps. A wait returns at the later of shown end and true end of the computation; work
 *    that computes longer than its modelled duration is an overrun and counted.
 *
 * What is modelled, what of it is known from real GPUs, and the variables that are read once, at
 * the first call: README.md beside this file. Costs in this interface are final nanoseconds.
 *
 * Unless said otherwise every function may be called from any thread, and cudaError_t results
 * leave the last error alone: that is the front library's business (core_runtime.h).
 */

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFSIM_API __attribute__((visibility("default")))

enum tfsim_kind {
	TFSIM_KERNEL,
	TFSIM_MEMCPY,
	TFSIM_MEMSET,
	TFSIM_HOST,
	TFSIM_RECORD,
	TFSIM_WAIT,
	TFSIM_EMPTY,
	TFSIM_ALLOC,
	TFSIM_FREE,
	TFSIM_GRAPH,
};

/* Memory as CUPTI numbers it. */
enum tfsim_memory {
	TFSIM_UNKNOWN = 0,
	TFSIM_PAGEABLE = 1,
	TFSIM_PINNED = 2,
	TFSIM_DEVICE = 3,
	TFSIM_MANAGED = 5,
};

struct tfsim_span {
	const void *address;
	size_t size;
	bool write;
};

#define TFSIM_SPANS 8

/* One piece of device work. Zero what does not apply. */
struct tfsim_work {
	enum tfsim_kind kind;
	const char *name;        /* kernels: mangled name; must live as long as the process */
	uint64_t cost_ns;        /* from tfsim_cost_*() */
	void (*run)(void *args); /* on a stream's thread; may run more than once (graphs) */
	const void *args;        /* copied by tfsim_enqueue() */
	size_t args_size;
	void (*drop)(void *args); /* optional: releases what the copy owns, called once */
	dim3 grid, block;
	uint32_t shared_bytes, static_shared;
	uint64_t bytes;             /* memcpy, memset, alloc, free */
	uint32_t value;             /* memset */
	enum tfsim_memory src, dst; /* memcpy; memset: dst */
	bool synchronous;           /* the call that asked for it is not an Async one */
	bool peer;                  /* memcpy: between two devices */
	bool meets;                 /* its end depends on other streams' work: computed always */
	bool prefetch, to_host;     /* managed memory moves without faults: there, or back */
	uint64_t lead_ns;           /* the host's part of it, before the device can begin */
	struct tfsim_span
		spans[TFSIM_SPANS]; /* what it touches, for hostile mode; may be partial */
};

/*
 * Puts work at the end of a stream (0, cudaStreamLegacy, cudaStreamPerThread or a created one), or
 * into the graph that is being captured. args are copied; on failure drop has been called too.
 */
TFSIM_API cudaError_t tfsim_enqueue(cudaStream_t stream, const struct tfsim_work *work);
/*
 * Inside run() of work that meets other streams' work: when it began in shown time, and when it
 * ends if not after its cost.
 */
TFSIM_API uint64_t tfsim_running_start_ns(void);
TFSIM_API void tfsim_running_end(uint64_t end_ns);
/* Whether results are computed (TFSIM_COMPUTE); if not, work that meets others only waits. */
TFSIM_API bool tfsim_computes(void);
/* Waits for a stream's work; fails while the stream captures (and invalidates the capture). */
TFSIM_API cudaError_t tfsim_stream_synchronize(cudaStream_t stream);
/* True when work for this stream would go into a graph. No side effect. */
TFSIM_API bool tfsim_stream_capturing(cudaStream_t stream);
/* The device of a stream; the calling thread's current device for the default streams. */
TFSIM_API int tfsim_stream_device(cudaStream_t stream);

/* What a kernel computes with. */
enum tfsim_math { TFSIM_SINGLE, TFSIM_TENSOR, TFSIM_HALF, TFSIM_DOUBLE };

/* Modelled duration of a kernel that moves and computes this much; at least the launch floor. */
TFSIM_API uint64_t tfsim_cost_math(enum tfsim_math math, uint64_t bytes, uint64_t flops);
/* Whether tensor cores are faster than plain ones: then the names of products say which they use.
 */
TFSIM_API bool tfsim_tensor_cores(void);
/* How often the same work is done on them where matrices are not aligned to 16 bytes; `bits` are
 * their addresses and the distances of their columns in bytes, or'ed. */
TFSIM_API uint64_t tfsim_unaligned(enum tfsim_math math, uint64_t bits);
/* The same for float on plain cores. */
TFSIM_API uint64_t tfsim_cost_kernel(uint64_t bytes, uint64_t flops);
TFSIM_API uint64_t tfsim_cost_fill(uint64_t bytes);
/* One rank's share in a collective: so many bytes cross the bus for each, as NCCL's tests count.
 * Its latency varies, but for a typical one, which is what an estimate tells. */
TFSIM_API uint64_t tfsim_cost_collective(uint64_t bus_bytes, bool typical);
/* Modelled duration of a copy between two kinds of memory. */
TFSIM_API uint64_t tfsim_cost_copy(uint64_t bytes, enum tfsim_memory dst, enum tfsim_memory src);
/* Scales nanoseconds of the modelled hardware to the final ones of this run. */
TFSIM_API uint64_t tfsim_cost_ns(uint64_t hardware_ns);
/* Advances the calling thread's modelled time by final nanoseconds (a search that measured). */
TFSIM_API void tfsim_host_spend(uint64_t ns);
/* The calling thread's modelled time. */
TFSIM_API uint64_t tfsim_host_modelled_ns(void);

TFSIM_API int tfsim_device_count(void);
TFSIM_API int tfsim_device_current(void);
TFSIM_API cudaError_t tfsim_device_set(int device);
TFSIM_API cudaError_t tfsim_device_synchronize(void);

/* 0 when hostile mode is off. */
TFSIM_API uint64_t tfsim_hostile_seed(void);
/* A reproducible number below limit, from the seed and salt (never from time); 0 when off. */
TFSIM_API uint32_t tfsim_hostile_pick(uint64_t salt, uint32_t limit);
/* Hostile mode: fills memory with a NaN pattern, now (call it inside run()). Otherwise nothing. */
TFSIM_API void tfsim_scribble(void *address, size_t size);

/* Ends what computes and drops what is queued, as on hardware when a process ends: no computation
 * may run while the libraries that it uses are torn down. Destructors may still use the device. */
TFSIM_API void tfsim_stop(void);

/* Counts a call that answered "not supported", for the line at the end of the run. */
TFSIM_API void tfsim_not_supported(const char *name);
/* Counts a kernel that had no CPU version. */
TFSIM_API void tfsim_skipped(const char *kernel);

#include "tests/sim/code/core_library.h"
#include "tests/sim/core/core_record.h"
#include "tests/sim/core/core_runtime.h"
#include "tests/sim/memory/core_memory.h"

#endif
