/* SPDX-License-Identifier: MIT */
/*
 * Whether NCCL takes a profiler plugin from the program itself (or from a preloaded library), and
 * what it tells it. One rank. See fact.h.
 */
#include <nccl.h>
#include <stdlib.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

static unsigned inits, starts, stops;

static int plugin_init(void **context, uint64_t comm, int *mask, const char *name, int nodes,
	int ranks, int rank, void *log)
{
	(void)comm, (void)name, (void)nodes, (void)ranks, (void)rank, (void)log;
	inits++;
	*context = &inits;
	*mask = 1 << 0 | 1 << 1 | 1 << 8 | 1 << 9 | 1 << 11;
	return 0;
}

static int plugin_start(void *context, void **event, void *description)
{
	(void)context, (void)description;
	starts++;
	*event = &starts;
	return 0;
}

static int plugin_stop(void *event)
{
	(void)event;
	stops++;
	return 0;
}

static int plugin_state(void *event, int state, void *arguments)
{
	(void)event, (void)state, (void)arguments;
	return 0;
}

static int plugin_finish(void *context)
{
	(void)context;
	return 0;
}

/* Fifth form of the plugin, NCCL 2.28: looked up by this name. */
extern const struct plugin {
	const char *name;
	int (*init)(void **, uint64_t, int *, const char *, int, int, int, void *);
	int (*start)(void *, void **, void *);
	int (*stop)(void *);
	int (*state)(void *, int, void *);
	int (*finish)(void *);
} ncclProfiler_v5;

const struct plugin ncclProfiler_v5 = {
	"facts", plugin_init, plugin_start, plugin_stop, plugin_state, plugin_finish};

int main(void)
{
	ncclComm_t comm;
	ncclUniqueId id;
	cudaStream_t stream;
	float *memory;
	int version = 0;

	if (!fact_device())
		return test_skip("no CUDA device");
	setenv("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", 0);
	OK(ncclGetVersion(&version));
	fact("nccl-plugin", "nccl-version", "%d", version);
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&memory, 4096));
	OK(ncclGetUniqueId(&id));
	if (!OK(ncclCommInitRank(&comm, 1, id, 0)))
		return test_result();
	OK(ncclAllReduce(memory, memory, 1024, ncclFloat, ncclSum, comm, stream));
	OK(ncclAllReduce(memory, memory + 512, 512, ncclFloat, ncclSum, comm, stream));
	OK(cudaStreamSynchronize(stream));
	OK(ncclCommDestroy(comm));
	fact("nccl-plugin", "static-plugin-found", "%s", inits ? "yes" : "no");
	fact("nccl-plugin", "events", "%u started, %u stopped", starts, stops);
	return test_result();
}
