/* SPDX-License-Identifier: MIT */
#include "tests/sim/memory/core_staged.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Up to this size a copy from pageable memory goes into the command buffer: the host goes on. */
#define INLINE_BYTES ((size_t)64 << 10)
#define PAGE ((size_t)4096)

void sim_copy_rows(const struct sim_copy *c)
{
	if (c->height == 1 || (c->dst_pitch == c->width && c->src_pitch == c->width)) {
		memmove(c->dst, c->src, c->width * c->height);
		return;
	}
	for (size_t y = 0; y < c->height; y++)
		memmove(c->dst + y * c->dst_pitch, c->src + y * c->src_pitch, c->width);
}

/* The part of the target's pages that do not exist yet. Asks about so many at a time. */
static double fresh_part(const char *target, size_t bytes)
{
	unsigned char present[256];
	const uintptr_t first = (uintptr_t)target / PAGE,
			last = ((uintptr_t)target + bytes - 1) / PAGE;
	size_t absent = 0;

	for (uintptr_t page = first; page <= last; page += sizeof(present)) {
		const size_t count =
			last - page + 1 < sizeof(present) ? last - page + 1 : sizeof(present);

		if (mincore((void *)(page * PAGE), count * PAGE, present) != 0)
			return 0;
		for (size_t i = 0; i < count; i++)
			absent += !(present[i] & 1);
	}
	return (double)absent / (double)(last - first + 1);
}

static uint64_t staged_first(uint64_t bytes)
{
	return bytes < sim.profile->staged ? bytes : sim.profile->staged;
}

/* The device begins when the first buffer is full, and then goes on as fast as the host fills. */
static void time_staged(struct tfsim_work *work)
{
	const uint64_t first = staged_first(work->bytes);

	work->lead_ns = sim_rate_ns(first, SIM_RATE_PAGEABLE_UP);
	work->cost_ns += sim_rate_ns(first, SIM_RATE_PINNED_UP) - work->lead_ns;
}

static void time_peer(struct tfsim_work *work)
{
	work->cost_ns = tfsim_cost_ns((uint64_t)sim.profile->copy_floor_ns) +
			sim_rate_ns(work->bytes, sim.nvlink ? SIM_RATE_NVLINK : SIM_RATE_PEER);
}

void sim_copy_times(struct tfsim_work *work, const struct sim_copy *c)
{
	const double fresh = sim.profile->fresh_down;

	work->cost_ns = tfsim_cost_copy(work->bytes, work->dst, work->src);
	if (work->peer)
		time_peer(work);
	else if (work->src == TFSIM_PAGEABLE && sim_on_device(work->dst) && sim.profile->host_paced)
		time_staged(work);
	else if (work->dst == TFSIM_PAGEABLE && sim_on_device(work->src) && fresh > 1)
		work->cost_ns += (uint64_t)((double)work->cost_ns * (fresh - 1) *
					    fresh_part(c->dst, work->bytes));
}

/*
 * The stream is idle, so the caller itself can do all but what the buffer holds. Of a copy by rows
 * the whole is left to the stream.
 */
static void land(struct sim_copy *c, struct tfsim_work *work)
{
	size_t bytes = c->width;

	if (c->height != 1 || bytes <= sim.profile->staged || !sim.compute ||
		sim_is_naive(SIM_NAIVE_STAGED))
		return;
	bytes -= sim.profile->staged;
	memmove(c->dst, c->src, bytes);
	c->dst += bytes;
	c->src += bytes;
	c->width -= bytes;
	work->spans[0].address = c->dst;
	work->spans[0].size = c->width;
}

static bool keep_source(struct sim_copy *c)
{
	const size_t bytes = c->width * c->height;
	struct sim_copy in = *c;

	c->staging = malloc(bytes);
	if (!c->staging)
		return false;
	in.dst = c->staging;
	in.dst_pitch = c->width;
	sim_copy_rows(&in);
	c->src = c->staging;
	c->src_pitch = c->width;
	return true;
}

/* The host fills buffers, and the last of them leaves when there is nothing left to fill. */
static void hold_host(const struct tfsim_work *work, struct sim_op *op, uint64_t start_ns)
{
	if (!sim.profile->host_paced) {
		if (work->bytes > INLINE_BYTES)
			sim_host_busy(start_ns, work->cost_ns);
		return;
	}
	sim_call_spend(sim_rate_ns(work->bytes, SIM_RATE_PAGEABLE_UP));
	if (op && work->bytes > sim.profile->staged)
		sim_op_wait_early(op, sim_rate_ns(staged_first(work->bytes), SIM_RATE_PINNED_UP));
}

cudaError_t sim_copy_staged(
	struct sim_copy *c, struct tfsim_work *work, cudaStream_t stream, bool async)
{
	cudaError_t error = async || sim_is_naive(SIM_NAIVE_SYNC)
				    ? cudaSuccess
				    : tfsim_stream_synchronize(stream);
	struct sim_op *op = NULL;
	uint64_t start_ns;

	if (error != cudaSuccess)
		return error;
	start_ns = tfsim_now_ns();
	if (!async)
		land(c, work);
	if (sim_must_run(work) && !keep_source(c))
		return cudaErrorMemoryAllocation;
	error = sim_enqueue(stream, work, &op);
	if (error == cudaSuccess)
		hold_host(work, op, start_ns);
	sim_op_unref(op);
	return error;
}
