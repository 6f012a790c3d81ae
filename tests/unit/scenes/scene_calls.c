/* SPDX-License-Identifier: MIT */
/* The calls that a scene's trainer makes. */
#include <string.h>

#include "tests/unit/scenes/scene_private.h"

#define BLOCK 256u

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void scene_copy(struct scene *scene, unsigned line, unsigned stream, bool async, bool up,
	enum tfs_memory_kind host, uint64_t device, uint64_t bytes, uint64_t work_ns)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		async ? TFS_FAMILY_copy_async : TFS_FAMILY_copy,
		async ? "cudaMemcpyAsync" : "cudaMemcpy");
	struct tfs_device_op_record op = {.operation = TFS_DEVICE_MEMCPY,
		.copy_kind = up ? 1 : 2,
		.stream = 7 + stream,
		.bytes = bytes,
		.source_kind = up ? host : TFS_MEMORY_DEVICE,
		.target_kind = up ? TFS_MEMORY_DEVICE : host};
	bool early = up && bytes <= 65536 && host == TFS_MEMORY_PAGEABLE;
	bool waits = !early && (!async || host == TFS_MEMORY_PAGEABLE);
	uint32_t memory = host == TFS_MEMORY_PAGEABLE ? TFS_MEMORY_HOST : host;

	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(up ? TFS_MEMORY_DEVICE : memory),
		up ? device : 0x10000000, bytes);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(up ? memory : TFS_MEMORY_DEVICE),
		up ? 0x10000000 : device, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 4);
	op.end_ns = scene_run_work(scene, stream, work_ns, &op.start_ns);
	scene_put_op(scene,
		scene_put_call(scene, &call,
			waits ? op.end_ns + SCENE_BACK_NS : scene->now + SCENE_CALL_NS),
		&op);
}

void scene_launch(struct scene *scene, unsigned line, unsigned stream, uint64_t work_ns,
	uint64_t count, unsigned pointers, const uint64_t *addresses)
{
	struct builder_call call = scene_call(
		scene, line, stream, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "__cudaLaunchKernel");

	for (unsigned i = 0; i < pointers; i++)
		builder_operand(&call, TFS_ROLE_MAYBE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
			addresses[i], count * 4);
	builder_attribute(
		&call, TFS_ATTRIBUTE_grid, (count + BLOCK - 1) / BLOCK | UINT64_C(1) << 32);
	builder_attribute(&call, TFS_ATTRIBUTE_block, BLOCK | UINT64_C(1) << 32);
	builder_attribute(&call, TFS_ATTRIBUTE_argument, count);
	scene->blocks = (uint32_t)((count + BLOCK - 1) / BLOCK);
	scene_make(scene, &call, work_ns);
	scene->blocks = 0;
}

void scene_set(struct scene *scene, unsigned line, uint64_t address, uint64_t bytes, int value)
{
	struct builder_call call = scene_call(
		scene, line, 0, TFS_LIBRARY_cudart, TFS_FAMILY_set_async, "cudaMemsetAsync");

	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), address, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_value, (uint64_t)value);
	scene_make(scene, &call, 20000);
}

void scene_gemm(struct scene *scene, unsigned line, uint64_t from, uint64_t to, uint64_t bytes,
	bool adds, uint64_t work_ns)
{
	struct builder_call call =
		scene_call(scene, line, 0, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
	double beta = adds;
	uint64_t bits;

	memcpy(&bits, &beta, sizeof(bits));
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), from, bytes);
	builder_operand(&call,
		TFS_ROLE_WRITE | (adds ? TFS_ROLE_READ : 0) | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
		to, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_beta, bits);
	scene_make(scene, &call, work_ns);
}

static void wait_until(struct scene *scene, struct builder_call *call, uint64_t ns)
{
	scene_put_call(scene, call, later(scene->now, ns) + SCENE_BACK_NS);
}

void scene_device_sync(struct scene *scene, unsigned line)
{
	struct builder_call call = scene_call(scene, line, 0, TFS_LIBRARY_cudart,
		TFS_FAMILY_device_sync, "cudaDeviceSynchronize");

	call.stream = TFS_NO_STREAM;
	wait_until(scene, &call, scene_all_done(scene));
}

void scene_stream_sync(struct scene *scene, unsigned line, unsigned stream)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_stream_sync, "cudaStreamSynchronize");

	wait_until(scene, &call, scene_stream_ready(scene, stream));
}

static struct scene_event *event_of(struct scene *scene, uint64_t handle)
{
	unsigned i = 0;

	while (i < scene->event_count && scene->events[i].handle != handle)
		i++;
	scene_need(i < SCENE_MOST, "too many events");
	scene->events[i].handle = handle;
	scene->event_count += i == scene->event_count;
	return &scene->events[i];
}

void scene_event_record(struct scene *scene, unsigned line, unsigned stream, uint64_t event)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_event_record, "cudaEventRecord");

	builder_attribute(&call, TFS_ATTRIBUTE_event, event);
	event_of(scene, event)->ns = scene_stream_ready(scene, stream);
	scene_make(scene, &call, 0);
}

void scene_event_sync(struct scene *scene, unsigned line, uint64_t event)
{
	struct builder_call call = scene_call(
		scene, line, 0, TFS_LIBRARY_cudart, TFS_FAMILY_event_sync, "cudaEventSynchronize");

	call.stream = TFS_NO_STREAM;
	builder_attribute(&call, TFS_ATTRIBUTE_event, event);
	wait_until(scene, &call, event_of(scene, event)->ns);
}

void scene_malloc(struct scene *scene, unsigned line, uint64_t address, uint64_t bytes)
{
	struct builder_call call =
		scene_call(scene, line, 0, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "cudaMalloc");

	call.amount = bytes;
	call.stream = TFS_NO_STREAM;
	builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), address, bytes);
	scene_make(scene, &call, 0);
}

void scene_free(struct scene *scene, unsigned line, uint64_t address)
{
	struct builder_call call =
		scene_call(scene, line, 0, TFS_LIBRARY_cudart, TFS_FAMILY_free, "cudaFree");

	call.stream = TFS_NO_STREAM;
	builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), address, 0);
	wait_until(scene, &call, scene_all_done(scene));
}
