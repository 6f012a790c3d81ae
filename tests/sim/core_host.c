/* SPDX-License-Identifier: MIT */
#include "core_graphs.h"

#include <stdlib.h>

#include "core_private.h"

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

/* Everything the device owns goes; handles to it are dead. A fault stays: see core_runtime.h. */
cudaError_t tfsim_device_reset(void)
{
	cudaError_t error = sim_enter();
	struct sim_device *device = &sim.device[sim_self.device];
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	sim_wait_device(sim_self.device);
	pthread_mutex_lock(&sim.lock);
	while (device->streams) {
		struct CUstream_st *open = device->streams;

		while (open && open->closing)
			open = open->next;
		if (!open)
			break;
		sim_stream_close(open);
	}
	device->legacy = NULL;
	sim.generation++;
	while (sim_range_any(sim_self.device, &range)) {
		sim_range_remove(range.base, &range);
		sim_range_release(&range);
	}
	sim_pool_init(&device->default_pool, sim_self.device);
	device->pool = &device->default_pool;
	pthread_mutex_unlock(&sim.lock);
	return cudaSuccess;
}
