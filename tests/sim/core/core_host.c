/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_graphs.h"

#include <stdlib.h>

#include "tests/sim/core/core_private.h"

/* A host function takes this long on the modelled device. */
#define HOST_NS 1000

struct call {
	cudaHostFn_t fn;
	void *data;
};

static void run_call(void *args)
{
	const struct call *call = args;

	call->fn(call->data);
}

cudaError_t tfsim_stream_host(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
	struct call call = {fn, data};
	struct tfsim_work work = {
		.kind = TFSIM_HOST,
		.run = run_call,
		.args = &call,
		.args_size = sizeof(call),
	};

	if (!fn)
		return cudaErrorInvalidValue;
	work.cost_ns = tfsim_cost_ns(HOST_NS);
	return tfsim_enqueue(stream, &work);
}

cudaError_t tfsim_describe_host(cudaHostFn_t fn, void *data, struct tfsim_work *out_work)
{
	struct call *call = fn ? malloc(sizeof(*call)) : NULL;

	if (!call)
		return fn ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
	*call = (struct call){fn, data};
	*out_work = (struct tfsim_work){
		.kind = TFSIM_HOST,
		.run = run_call,
		.args = call,
		.args_size = sizeof(*call),
		.cost_ns = tfsim_cost_ns(HOST_NS),
	};
	return cudaSuccess;
}
