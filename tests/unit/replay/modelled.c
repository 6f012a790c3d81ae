/* SPDX-License-Identifier: MIT */
#include "tests/unit/replay/modelled.h"

#include <string.h>

#include "tests/sim/core/core.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene_private.h"

#define MOST_BYTES ((size_t)64 << 20)
#define MOST_STREAMS 8u
#define MOST_THREADS 4u
#define EVENT UINT64_C(0xe0)
#define THREADS_PER_BLOCK 256u

struct modelled {
	struct scene *scene;
	unsigned thread;
	uint64_t interrupted_ns;
	bool known[MOST_THREADS];
	uint64_t clock_ns[MOST_THREADS];
	cudaStream_t streams[MOST_STREAMS];
	cudaEvent_t event;
	void *device, *pinned, *pageable;
};

/* Nothing is computed: an operation's times are told in the call that asks for it. */
static uint64_t start_ns, end_ns;

static void fact(const struct tfsim_fact *fact)
{
	if (fact->kind != TFSIM_FACT_KERNEL && fact->kind != TFSIM_FACT_MEMCPY)
		return;
	start_ns = fact->modelled_start_ns;
	end_ns = fact->modelled_end_ns;
}

void modelled_prepare(void)
{
	static const struct tfsim_sink sink = {.fact = fact};

	setenv("TFSIM_PROFILE", "a100", 1);
	setenv("TFSIM_COMPUTE", "0", 1);
	setenv("TFSIM_PACE", "0", 1);
	TEST_NEED(cudaFree(NULL) == cudaSuccess);
	tfsim_sink_set(&sink);
}

struct modelled *modelled_create(void)
{
	struct modelled *modelled = calloc(1, sizeof(*modelled));

	TEST_NEED(modelled);
	modelled->scene = scene_create(true);
	modelled->known[0] = true;
	modelled->pageable = calloc(1, MOST_BYTES);
	TEST_NEED(modelled->pageable);
	TEST_NEED(cudaMalloc(&modelled->device, MOST_BYTES) == cudaSuccess);
	TEST_NEED(cudaMallocHost(&modelled->pinned, MOST_BYTES) == cudaSuccess);
	TEST_NEED(
		cudaEventCreateWithFlags(&modelled->event, cudaEventDisableTiming) == cudaSuccess);
	TEST_NEED(cudaDeviceSynchronize() == cudaSuccess);
	return modelled;
}

void modelled_destroy(struct modelled *modelled)
{
	cudaDeviceSynchronize();
	for (unsigned i = 1; i < modelled->scene->streams; i++)
		cudaStreamDestroy(modelled->streams[i]);
	cudaEventDestroy(modelled->event);
	cudaFreeHost(modelled->pinned);
	cudaFree(modelled->device);
	free(modelled->pageable);
	scene_destroy(modelled->scene);
	free(modelled);
}

struct scene *modelled_scene(struct modelled *modelled)
{
	return modelled->scene;
}

unsigned modelled_stream(struct modelled *modelled)
{
	unsigned stream = scene_stream(modelled->scene, 4);

	TEST_NEED(stream < MOST_STREAMS);
	TEST_NEED(cudaStreamCreateWithFlags(&modelled->streams[stream], cudaStreamNonBlocking) ==
		  cudaSuccess);
	return stream;
}

static void become(struct modelled *modelled, unsigned thread)
{
	const struct tfs_thread_record record = {.tid = 77 + thread, .name = "worker"};

	TEST_NEED(thread < MOST_THREADS);
	modelled->clock_ns[modelled->thread] = tfsim_host_modelled_ns();
	if (!modelled->known[thread])
		modelled->clock_ns[thread] = tfsim_host_modelled_ns();
	modelled->thread = thread;
	builder_thread(modelled->scene->builder, thread);
	if (!modelled->known[thread])
		builder_record(
			modelled->scene->builder, TFS_RECORD_thread, &record, sizeof(record));
	modelled->known[thread] = true;
}

void modelled_thread(struct modelled *modelled, unsigned thread, uint64_t after_ns)
{
	become(modelled, thread);
	tfsim_host_spend(after_ns);
}

void modelled_thread_beside(struct modelled *modelled, unsigned thread)
{
	become(modelled, thread);
	/* Unsigned: the clock can be put back. */
	tfsim_host_spend(modelled->clock_ns[thread] - tfsim_host_modelled_ns());
}

void modelled_interrupt(struct modelled *modelled, uint64_t ns)
{
	modelled->interrupted_ns = ns;
}

/* The calling thread's clock is the scene's. */
static void begin(struct modelled *modelled)
{
	modelled->scene->now = tfsim_host_modelled_ns();
	start_ns = end_ns = 0;
}

static void record(struct modelled *modelled, struct builder_call *call, cudaError_t status,
	struct tfs_device_op_record *op)
{
	uint32_t unit;

	tfsim_host_spend(modelled->interrupted_ns);
	modelled->interrupted_ns = 0;
	unit = scene_put_call(modelled->scene, call, tfsim_host_modelled_ns());

	TEST_NEED(status == cudaSuccess);
	if (!op)
		return;
	TEST_NEED(end_ns > start_ns);
	op->start_ns = start_ns;
	op->end_ns = end_ns;
	scene_put_op(modelled->scene, unit, op);
}

void modelled_step(struct modelled *modelled)
{
	begin(modelled);
	scene_step(modelled->scene);
}

void modelled_host(struct modelled *modelled, uint64_t ns)
{
	(void)modelled;
	tfsim_host_spend(ns);
}

void modelled_launch(struct modelled *modelled, unsigned line, unsigned stream, uint64_t work_ns,
	unsigned blocks)
{
	const struct tfsim_work work = {
		.kind = TFSIM_KERNEL,
		.cost_ns = tfsim_cost_ns(work_ns),
		.grid = {blocks, 1, 1},
		.block = {THREADS_PER_BLOCK, 1, 1},
	};
	struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_KERNEL, .kernel = 1, .stream = 7 + stream};
	struct builder_call call = scene_call(modelled->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_launch, "__cudaLaunchKernel");

	begin(modelled);
	record(modelled, &call, tfsim_enqueue(modelled->streams[stream], &work), &op);
}

void modelled_upload(struct modelled *modelled, unsigned line, unsigned stream,
	enum tfs_memory_kind host, uint64_t bytes)
{
	const bool pinned = host == TFS_MEMORY_PINNED;
	void *source = pinned ? modelled->pinned : modelled->pageable;
	struct tfs_device_op_record op = {.operation = TFS_DEVICE_MEMCPY,
		.copy_kind = 1,
		.stream = 7 + stream,
		.bytes = bytes,
		.source_kind = (uint8_t)host,
		.target_kind = TFS_MEMORY_DEVICE};
	struct builder_call call = scene_call(modelled->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	TEST_NEED(bytes <= MOST_BYTES);
	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
		(uintptr_t)modelled->device, bytes);
	builder_operand(&call,
		TFS_ROLE_READ | TFS_ROLE_MEMORY(pinned ? TFS_MEMORY_PINNED : TFS_MEMORY_HOST),
		(uintptr_t)source, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 4);
	begin(modelled);
	record(modelled, &call,
		cudaMemcpyAsync(modelled->device, source, bytes, cudaMemcpyDefault,
			modelled->streams[stream]),
		&op);
}

void modelled_device_sync(struct modelled *modelled, unsigned line)
{
	struct builder_call call = scene_call(modelled->scene, line, 0, TFS_LIBRARY_cudart,
		TFS_FAMILY_device_sync, "cudaDeviceSynchronize");

	call.stream = TFS_NO_STREAM;
	begin(modelled);
	record(modelled, &call, cudaDeviceSynchronize(), NULL);
}

void modelled_stream_sync(struct modelled *modelled, unsigned line, unsigned stream)
{
	struct builder_call call = scene_call(modelled->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_stream_sync, "cudaStreamSynchronize");

	begin(modelled);
	record(modelled, &call, cudaStreamSynchronize(modelled->streams[stream]), NULL);
}

void modelled_event_record(struct modelled *modelled, unsigned line, unsigned stream)
{
	struct builder_call call = scene_call(modelled->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_event_record, "cudaEventRecord");

	builder_attribute(&call, TFS_ATTRIBUTE_event, EVENT);
	begin(modelled);
	record(modelled, &call, cudaEventRecord(modelled->event, modelled->streams[stream]), NULL);
}

void modelled_stream_wait(struct modelled *modelled, unsigned line, unsigned stream)
{
	struct builder_call call = scene_call(modelled->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_stream_wait, "cudaStreamWaitEvent");

	builder_attribute(&call, TFS_ATTRIBUTE_event, EVENT);
	begin(modelled);
	record(modelled, &call, cudaStreamWaitEvent(modelled->streams[stream], modelled->event, 0),
		NULL);
}

double modelled_judge(struct modelled *modelled)
{
	const struct tfs_timeline *timeline;
	double sum = 0;

	begin(modelled);
	scene_judge(modelled->scene, NULL);
	timeline = modelled->scene->timeline;
	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		sum += (double)(step->end_ns - step->start_ns);
	}
	TEST_NEED(timeline->judged_count);
	return sum / timeline->judged_count;
}
