/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include "tests/sim/core/core_private.h"

cudaError_t tfsim_context_set(int device, unsigned context)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (device < 0 || device >= sim.device_count)
		return cudaErrorInvalidDevice;
	sim_self.device = device;
	sim_self.context = context;
	return cudaSuccess;
}

cudaError_t tfsim_device_set(int device)
{
	return tfsim_context_set(device, 0);
}

unsigned tfsim_context_current(void)
{
	return sim_self.context;
}

static void close_streams(struct sim_device *device, unsigned context)
{
	struct CUstream_st *open;

	do {
		open = device->streams;
		while (open && (open->closing || open->context != context))
			open = open->next;
		if (open)
			sim_stream_close(open);
	} while (open);
}

/* What is stream-ordered belongs to the device, and so goes with the primary context. */
cudaError_t tfsim_context_end(int number, unsigned context)
{
	cudaError_t error = sim_enter();
	struct sim_device *device = &sim.device[number];
	struct tfsim_range range;

	if (error != cudaSuccess)
		return error;
	sim_wait_device(number);
	pthread_mutex_lock(&sim.lock);
	close_streams(device, context);
	while (sim_range_any(number, context, &range)) {
		sim_range_remove(range.base, &range);
		sim_range_release(&range);
	}
	if (context == 0) {
		device->legacy = NULL;
		sim.generation++;
		sim_pool_init(&device->default_pool, number);
		device->pool = &device->default_pool;
	}
	pthread_mutex_unlock(&sim.lock);
	return cudaSuccess;
}

void tfsim_device_enter(int device, bool current)
{
	if (sim_enter() != cudaSuccess)
		return;
	pthread_mutex_lock(&sim.lock);
	sim.device[device].begun = true;
	sim.device[device].used |= current;
	pthread_mutex_unlock(&sim.lock);
}

void tfsim_device_leave(int device)
{
	pthread_mutex_lock(&sim.lock);
	sim.device[device].begun = false;
	sim.device[device].used = false;
	pthread_mutex_unlock(&sim.lock);
}

/* A fault stays: see core_runtime.h. */
cudaError_t tfsim_device_reset(int device)
{
	return tfsim_context_end(device, 0);
}
