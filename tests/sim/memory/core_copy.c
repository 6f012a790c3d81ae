/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_graphs.h"
#include "tests/sim/memory/core_staged.h"

struct fill {
	char *dst;
	size_t pitch, width, height;
	uint32_t value;
	unsigned element;
};

/* Zeros stand for what was not computed. */
static void clear_rows(const struct sim_copy *c)
{
	for (size_t y = 0; y < c->height; y++)
		memset(c->dst + y * c->dst_pitch, 0, c->width);
}

static void run_copy(void *args)
{
	const struct sim_copy *c = args;

	if (!sim.compute && tfsim_memory_kind(c->src) == TFSIM_DEVICE)
		clear_rows(c);
	else
		sim_copy_rows(c);
}

static void drop_copy(void *args)
{
	free(((struct sim_copy *)args)->staging);
}

static size_t extent(size_t pitch, size_t width, size_t height)
{
	return (height - 1) * pitch + width;
}

/* False when the area leaves the allocation it starts in, or was freed. */
static bool classify(const void *address, size_t size, enum tfsim_memory *out_kind, int *out_device)
{
	struct tfsim_range range;

	*out_kind = TFSIM_PAGEABLE;
	*out_device = -1;
	if (!tfsim_memory_find(address, &range))
		return !sim_in_arena(address);
	*out_kind = range.kind;
	*out_device = range.device;
	return (uintptr_t)address + size <= (uintptr_t)range.base + range.size;
}

/* Pinned memory has a device address too, so it passes for either side. */
static bool matches(enum cudaMemcpyKind kind, enum tfsim_memory dst, enum tfsim_memory src)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return dst != TFSIM_DEVICE && src != TFSIM_DEVICE;
	case cudaMemcpyHostToDevice:
		return dst != TFSIM_PAGEABLE && src != TFSIM_DEVICE;
	case cudaMemcpyDeviceToHost:
		return src != TFSIM_PAGEABLE && dst != TFSIM_DEVICE;
	case cudaMemcpyDeviceToDevice:
		return dst != TFSIM_PAGEABLE && src != TFSIM_PAGEABLE;
	default:
		return true;
	}
}

static cudaError_t describe(struct sim_copy *c, enum cudaMemcpyKind kind, struct tfsim_work *work)
{
	size_t bytes = c->width * c->height;
	int device, dst_device;

	if (!c->dst || !c->src || c->dst_pitch < c->width || c->src_pitch < c->width)
		return cudaErrorInvalidValue;
	if (!classify(c->dst, extent(c->dst_pitch, c->width, c->height), &work->dst, &dst_device) ||
		!classify(c->src, extent(c->src_pitch, c->width, c->height), &work->src, &device) ||
		!matches(kind, work->dst, work->src))
		return cudaErrorInvalidValue;
	work->kind = TFSIM_MEMCPY;
	work->bytes = bytes;
	work->peer = dst_device >= 0 && device >= 0 && dst_device != device;
	sim_copy_times(work, c);
	work->run = run_copy;
	work->drop = drop_copy;
	work->args = c;
	work->args_size = sizeof(*c);
	if (c->height == 1 && (c->dst + bytes <= c->src || c->src + bytes <= c->dst))
		work->spans[0] = (struct tfsim_span){c->dst, bytes, true};
	work->spans[1] = (struct tfsim_span){c->src, bytes, false};
	return cudaSuccess;
}

static cudaError_t copy_host(struct sim_copy *c, cudaStream_t stream)
{
	cudaError_t error = tfsim_stream_synchronize(stream);

	if (error == cudaSuccess)
		sim_copy_rows(c);
	return error;
}

/* "May be synchronous": hostile runs take the other choice now and then. */
static bool host_waits(const struct tfsim_work *work, bool async, const struct sim_op *op)
{
	if (sim_is_naive(SIM_NAIVE_SYNC))
		return false;
	if (async)
		return work->dst == TFSIM_PAGEABLE && tfsim_hostile_pick(op->number, 2) == 0;
	return !sim_on_device(work->dst) || !sim_on_device(work->src);
}

/* A graph's node reads its source anew at each launch. */
static bool must_stage(const struct tfsim_work *work, bool capturing)
{
	if (capturing)
		return sim_is_naive(SIM_NAIVE_REPLAY) && !sim_on_device(work->src);
	if (work->src == TFSIM_PINNED)
		return sim_is_naive(SIM_NAIVE_PINNED);
	return work->src == TFSIM_PAGEABLE && !sim_is_naive(SIM_NAIVE_PAGEABLE);
}

static cudaError_t copy(
	struct sim_copy *c, enum cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
	struct tfsim_work work = {.synchronous = !async};
	cudaError_t error = describe(c, kind, &work);
	struct sim_op *op = NULL;
	bool capturing;

	if (error == cudaSuccess && !async)
		error = tfsim_capture_unsafe();
	if (error != cudaSuccess)
		return error;
	capturing = tfsim_stream_capturing(stream);
	if (!capturing && !sim_on_device(work.dst) && !sim_on_device(work.src))
		return copy_host(c, stream);
	if (must_stage(&work, capturing))
		return sim_copy_staged(c, &work, stream, async);
	error = sim_enqueue(stream, &work, &op);
	if (op && host_waits(&work, async, op)) {
		sim_op_wait(op);
		error = sim_enter();
	}
	sim_op_unref(op);
	return error;
}

cudaError_t tfsim_memcpy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
	size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool async)
{
	struct sim_copy c = {dst, src, dst_pitch, src_pitch, width, height, NULL};
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (width == 0 || height == 0)
		return cudaSuccess;
	return copy(&c, kind, stream, async);
}

cudaError_t tfsim_memcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
	cudaStream_t stream, bool async)
{
	return tfsim_memcpy_2d(dst, size, src, size, size, 1, kind, stream, async);
}

cudaError_t tfsim_memcpy_peer(void *dst, int dst_device, const void *src, int src_device,
	size_t size, cudaStream_t stream, bool async)
{
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (dst_device < 0 || dst_device >= sim.device_count || src_device < 0 ||
		src_device >= sim.device_count)
		return cudaErrorInvalidDevice;
	if (!async) {
		error = tfsim_capture_unsafe();
		if (error != cudaSuccess)
			return error;
		sim_wait_device(src_device);
		sim_wait_device(dst_device);
	}
	error = tfsim_memcpy(dst, src, size, cudaMemcpyDeviceToDevice, stream, async);
	return error == cudaSuccess && !async ? tfsim_stream_synchronize(stream) : error;
}

cudaError_t tfsim_describe_memcpy(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
	size_t width, size_t height, enum cudaMemcpyKind kind, struct tfsim_work *out_work)
{
	struct sim_copy *c;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (width == 0 || height == 0)
		return cudaErrorInvalidValue;
	c = malloc(sizeof(*c));
	if (!c)
		return cudaErrorMemoryAllocation;
	*c = (struct sim_copy){dst, src, dst_pitch, src_pitch, width, height, NULL};
	*out_work = (struct tfsim_work){0};
	error = describe(c, kind, out_work);
	if (error != cudaSuccess)
		free(c);
	return error;
}

static void run_fill(void *args)
{
	const struct fill *f = args;

	for (size_t y = 0; y < f->height; y++) {
		char *row = f->dst + y * f->pitch;

		if (f->element == 1) {
			memset(row, (int)f->value, f->width);
			continue;
		}
		for (size_t x = 0; x < f->width; x++)
			memcpy(row + x * f->element, &f->value, f->element);
	}
}

static cudaError_t describe_fill(struct fill *f, struct tfsim_work *work)
{
	size_t width = f->width * f->element;
	int device;

	if (f->height == 1)
		f->pitch = width;
	*work = (struct tfsim_work){
		.kind = TFSIM_MEMSET,
		.value = f->value,
		.run = run_fill,
		.args = f,
		.args_size = sizeof(*f),
		.bytes = (uint64_t)width * f->height,
	};
	if (!f->dst || f->pitch < width ||
		!classify(f->dst, extent(f->pitch, width, f->height), &work->dst, &device) ||
		work->dst == TFSIM_PAGEABLE)
		return cudaErrorInvalidValue;
	work->cost_ns = tfsim_cost_fill(work->bytes);
	if (f->height == 1)
		work->spans[0] = (struct tfsim_span){f->dst, work->bytes, true};
	return cudaSuccess;
}

cudaError_t tfsim_describe_memset(void *dst, size_t pitch, uint32_t value, unsigned element,
	size_t width, size_t height, struct tfsim_work *out_work)
{
	cudaError_t error = sim_enter();
	struct fill *f;

	if (error != cudaSuccess)
		return error;
	if (width == 0 || height == 0 || (element != 1 && element != 2 && element != 4))
		return cudaErrorInvalidValue;
	f = malloc(sizeof(*f));
	if (!f)
		return cudaErrorMemoryAllocation;
	*f = (struct fill){dst, pitch, width, height, value, element};
	error = describe_fill(f, out_work);
	if (error != cudaSuccess)
		free(f);
	return error;
}

cudaError_t tfsim_memset(void *dst, size_t pitch, uint32_t value, unsigned element, size_t width,
	size_t height, cudaStream_t stream, bool async)
{
	struct fill f = {dst, pitch, width, height, value, element};
	cudaError_t error = sim_enter();
	struct sim_op *op = NULL;
	struct tfsim_work work;

	if (error == cudaSuccess && !async)
		error = tfsim_capture_unsafe();
	if (error != cudaSuccess || width == 0 || height == 0)
		return error;
	error = describe_fill(&f, &work);
	if (error != cudaSuccess)
		return error;
	work.synchronous = !async;
	error = sim_enqueue(stream, &work, &op);
	if (op && !async && work.dst != TFSIM_DEVICE) {
		sim_op_wait(op);
		error = sim_enter();
	}
	sim_op_unref(op);
	return error;
}
