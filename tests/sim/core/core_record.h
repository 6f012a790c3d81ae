/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_RECORD_H
#define TFS_TESTS_SIM_CORE_RECORD_H

/*
 * What the simulated CUPTI hears. A front library frames each public CUDA runtime or driver call
 * with tfsim_api_enter() and tfsim_api_exit(); work enqueued in between carries its correlation
 * id. Work that a library (cuDNN, cuBLAS, ...) enqueues without a frame gets one of its own, as
 * the real libraries' static cudart would give it (cudaLaunchKernel, cudaMemcpyAsync, ...).
 * All times are CLOCK_MONOTONIC nanoseconds.
 */

#include "tests/sim/core/core.h"

enum tfsim_domain { TFSIM_DRIVER_API = 1, TFSIM_RUNTIME_API = 2 }; /* as CUPTI numbers them */

/* Lives on the caller's stack from enter to exit. */
struct tfsim_api {
	enum tfsim_domain domain;
	uint32_t cbid;
	const char *name;
	const void *params; /* CUPTI's parameter struct of this cbid, or NULL */
	const char *symbol; /* kernel name on launches, else NULL */
	uint32_t correlation;
	uint32_t thread; /* gettid */
	int result;
	uint64_t start_ns, end_ns;
	uint64_t data; /* free for the sink: from enter to exit */
	struct tfsim_api *outer;
};

enum tfsim_fact_kind {
	TFSIM_FACT_KERNEL,
	TFSIM_FACT_MEMCPY,
	TFSIM_FACT_MEMSET,
	TFSIM_FACT_SYNC,
	TFSIM_FACT_EVENT,
	TFSIM_FACT_MEMORY,
	TFSIM_FACT_STREAM,
	TFSIM_FACT_GRAPH,
	TFSIM_FACT_CONTEXT,
};

/* One activity. Fields that do not apply are zero; pointers live as long as the process. */
struct tfsim_fact {
	enum tfsim_fact_kind kind;
	uint32_t correlation;
	uint64_t start_ns, end_ns; /* may lie a little ahead of now: completion is shown then */
	uint64_t queued_ns, submitted_ns;
	uint64_t modelled_start_ns,
		modelled_end_ns;          /* in modelled time; graph nodes: the graph's */
	uint32_t device, context, stream; /* context is device + 1; stream ids as CUPTI's */
	const char *name;
	dim3 grid, block;
	uint32_t shared_bytes, static_shared;
	uint64_t bytes;
	uint64_t address;  /* memory */
	uint32_t value;    /* memset */
	uint8_t copy_kind; /* CUPTI: 1 HtoD, 2 DtoH, 8 DtoD, 9 HtoH, 10 PtoP */
	uint8_t src, dst;  /* enum tfsim_memory; memset and memory: dst */
	bool async;
	uint8_t sync_type;        /* 1 event, 2 stream wait event, 3 stream, 4 context */
	uint8_t memory_operation; /* 1 allocation, 2 release */
	uint8_t stream_flag;      /* 1 default, 2 non-blocking, 3 null */
	int32_t stream_priority;
	uint32_t event; /* event id; sync and event facts */
	uint32_t graph; /* graph launches and their nodes, else 0 */
	uint64_t graph_node;
	int32_t result;
	uint32_t peer_device; /* PtoP: source; device is the destination */
};

/* Called on API threads (enter, exit) and stream threads (fact); must not call the core's waits. */
struct tfsim_sink {
	void (*api_enter)(struct tfsim_api *api);
	void (*api_exit)(struct tfsim_api *api);
	void (*fact)(const struct tfsim_fact *fact);
};

/* Installs the one listener; NULL removes it. Facts of work enqueued before may still come. */
TFSIM_API void tfsim_sink_set(const struct tfsim_sink *sink);
/* For late listeners: emits a context and a stream fact for each that exists. */
TFSIM_API void tfsim_sink_dump(void);

/* Was there any call of the runtime's? Its first one starts the driver. */
TFSIM_API bool tfsim_runtime_called(void);
TFSIM_API void tfsim_api_enter(struct tfsim_api *api, enum tfsim_domain domain, uint32_t cbid,
	const char *name, const void *params);
TFSIM_API void tfsim_api_exit(struct tfsim_api *api, int result);
/* CLOCK_MONOTONIC. */
TFSIM_API uint64_t tfsim_now_ns(void);

#endif
