/* SPDX-License-Identifier: MIT */
#include "tests/unit/scenes/scene_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_NS 4000u
#define GAP_NS 1000u

void scene_need(bool held, const char *what)
{
	if (held)
		return;
	printf("scene: %s\n", what);
	exit(1);
}

static struct scene *create(const char *name, struct tfs_device_record device)
{
	const struct tfs_thread_record thread = {.tid = 77, .name = "main"};
	struct scene *scene = calloc(1, sizeof(*scene));

	scene_need(scene, "no memory");
	scene->builder = builder_create();
	scene->now = 1000000;
	scene->address = UINT64_C(0x7f0000000000);
	scene->correlation = 1;
	scene->kernel = 1;
	builder_record(scene->builder, TFS_RECORD_thread, &thread, sizeof(thread));
	device.name = builder_string(scene->builder, name);
	device.memory_bytes = UINT64_C(16) << 30;
	device.bandwidth = UINT64_C(900000000000);
	builder_record(scene->builder, TFS_RECORD_device, &device, sizeof(device));
	scene_stream(scene, 1);
	return scene;
}

struct scene *scene_create(bool simulated)
{
	/* The simulated device is set up as an A100. */
	return create("Scene device", (struct tfs_device_record){.simulated = simulated,
					      .compute = simulated ? 8 << 16 : 0});
}

struct scene *scene_create_on(uint32_t major)
{
	return create("Scene device", (struct tfs_device_record){.compute = major << 16});
}

struct scene *scene_create_named(const char *device)
{
	return create(device, (struct tfs_device_record){0});
}

struct scene *scene_create_sized(uint32_t multiprocessors, uint64_t cache_bytes)
{
	return create("Scene device", (struct tfs_device_record){.multiprocessors = multiprocessors,
					      .cache_bytes = cache_bytes});
}

void scene_destroy(struct scene *scene)
{
	tfs_judgement_destroy(scene->judgement);
	tfs_timeline_destroy(scene->timeline);
	tfs_trace_close(scene->trace);
	builder_destroy(scene->builder);
	free(scene);
}

struct builder *scene_builder(struct scene *scene)
{
	return scene->builder;
}

void scene_device(struct scene *scene, unsigned device)
{
	if (device > scene->last_device)
		builder_device_of(
			scene->builder, (uint16_t)device, "Another device", false, 8 << 16);
	scene->last_device = device > scene->last_device ? device : scene->last_device;
	scene->device = device;
}

unsigned scene_stream(struct scene *scene, uint32_t flags)
{
	unsigned stream = scene->streams++;

	scene_need(stream < SCENE_MOST, "too many streams");
	scene->stream_ids[stream] = builder_stream(scene->builder, stream, 7 + stream, flags);
	scene->stream_flags[stream] = flags;
	return stream;
}

/* What a function is recorded as. */
static const char *spelling(const struct scene *scene, const char *name, char buffer[64])
{
	size_t length = strlen(name);

	scene_need(length < 64, "too long a name");
	for (size_t i = 0; i < length; i++)
		buffer[i] = scene->nameless ? name[length - 1 - i] : name[i];
	buffer[length] = 0;
	return buffer;
}

static enum tfs_family kind(const struct scene *scene, enum tfs_family family)
{
	static const enum tfs_family before[] = {
		[TFS_FAMILY_handle_create] = TFS_FAMILY_handle,
		[TFS_FAMILY_handle_destroy] = TFS_FAMILY_handle,
		[TFS_FAMILY_descriptor_create] = TFS_FAMILY_descriptor,
		[TFS_FAMILY_descriptor_destroy] = TFS_FAMILY_descriptor,
		[TFS_FAMILY_constant] = TFS_FAMILY_property,
		[TFS_FAMILY_capture_end] = TFS_FAMILY_capture,
		[TFS_FAMILY_elapsed] = TFS_FAMILY_other,
		[TFS_FAMILY_blas_pointwise] = TFS_FAMILY_blas,
		[TFS_FAMILY_bias] = TFS_FAMILY_pointwise,
		[TFS_FAMILY_activation] = TFS_FAMILY_pointwise,
	};

	return scene->older && family >= TFS_FAMILY_handle_create ? before[family] : family;
}

void scene_nameless(struct scene *scene)
{
	scene->nameless = true;
}

void scene_older(struct scene *scene)
{
	size_t size;

	((struct tfs_file_header *)builder_bytes(scene->builder, &size))->version =
		TFS_FORMAT_OLDEST;
	scene->older = true;
}

static uint16_t function_id(
	struct scene *scene, enum tfs_library library, enum tfs_family family, const char *name)
{
	unsigned i = 0;
	char buffer[64];

	while (i < scene->function_count && strcmp(scene->functions[i].name, name))
		i++;
	scene_need(i < SCENE_MOST, "too many functions");
	if (i == scene->function_count) {
		scene->functions[i].name = name;
		scene->functions[i].family = family;
		scene->functions[i].id = builder_function(scene->builder, library,
			kind(scene, family), spelling(scene, name, buffer));
		scene->function_count++;
	}
	return scene->functions[i].id;
}

static enum tfs_family family_of(const struct scene *scene, uint16_t function)
{
	unsigned i = 0;

	while (scene->functions[i].id != function)
		i++;
	return scene->functions[i].family;
}

static uint32_t site_id(struct scene *scene, unsigned line)
{
	uint64_t frames[] = {0x401000 + line * 16, 0x400800};
	unsigned i = 0;

	while (i < scene->site_count && scene->sites[i].line != line)
		i++;
	scene_need(i < SCENE_MOST, "too many lines");
	if (i == scene->site_count) {
		scene->sites[i].line = line;
		scene->sites[i].id = builder_site(scene->builder, 2, frames);
		scene->site_count++;
	}
	return scene->sites[i].id;
}

struct builder_call scene_call(struct scene *scene, unsigned line, unsigned stream,
	enum tfs_library library, enum tfs_family family, const char *name)
{
	return (struct builder_call){.function = function_id(scene, library, family, name),
		.stream = scene->stream_ids[stream],
		.site = site_id(scene, line)};
}

static void count_call(struct scene *scene, const struct builder_call *call)
{
	unsigned i = 0;

	while (i < scene->total_count && (scene->totals[i].site != call->site ||
						 scene->totals[i].function != call->function))
		i++;
	scene_need(i < SCENE_MOST, "too many totals");
	scene->totals[i].site = call->site;
	scene->totals[i].function = call->function;
	scene->totals[i].count++;
	scene->totals[i].amount += call->amount;
	scene->totals[i].ticks += call->duration_ns;
	scene->total_count += i == scene->total_count;
}

static uint16_t api_id(
	struct scene *scene, enum tfs_library domain, enum tfs_family family, const char *name)
{
	unsigned i = 0;
	char buffer[64];

	while (i < scene->api_count && strcmp(scene->apis[i], name))
		i++;
	scene_need(i < SCENE_MOST, "too many functions watched");
	if (i == scene->api_count) {
		scene->apis[scene->api_count++] = name;
		builder_api(scene->builder, domain, scene->older ? TFS_FAMILY_other : family,
			(uint16_t)(i + 1), spelling(scene, name, buffer));
	}
	return (uint16_t)(i + 1);
}

static const char *name_of(const struct scene *scene, uint16_t function)
{
	unsigned i = 0;

	while (scene->functions[i].id != function)
		i++;
	return scene->functions[i].name;
}

/* What a library calls is seen as a launch. */
static void put_api(struct scene *scene, const struct builder_call *call, uint32_t unit)
{
	const char *name = name_of(scene, call->function);
	const bool own = strstr(name, "cuda");

	builder_link(scene->builder, unit, scene->correlation);
	builder_device_api(scene->builder, TFS_LIBRARY_cudart,
		api_id(scene, TFS_LIBRARY_cudart,
			own ? family_of(scene, call->function) : TFS_FAMILY_launch,
			own ? name : "cudaLaunchKernel"),
		scene->correlation++, 77, call->start_ns + 100, (uint32_t)call->duration_ns - 200);
}

void scene_watch(struct scene *scene)
{
	scene->watched = true;
}

void scene_unseen(struct scene *scene, enum tfs_library domain, enum tfs_family family,
	const char *name, uint32_t tid, bool inside)
{
	const uint64_t start_ns = inside ? scene->latest.start_ns + 200 : scene->now;

	/* Only a thread's own calls can have its ids. */
	if (inside && tid == 77)
		builder_link(scene->builder, scene->latest.unit, scene->correlation);
	builder_device_api(scene->builder, domain, api_id(scene, domain, family, name),
		scene->correlation++, tid, start_ns, 300);
	scene->now += inside ? 0 : 500;
}

void scene_late(struct scene *scene, enum tfs_family family, const char *name, uint32_t tid)
{
	builder_device_api(scene->builder, TFS_LIBRARY_cudart,
		api_id(scene, TFS_LIBRARY_cudart, family, name), scene->correlation++, tid,
		scene->now - 500 - 90, 80);
}

void scene_allocated(struct scene *scene, uint64_t bytes)
{
	const struct tfs_device_memory_record record = {.operation = 1,
		.correlation = scene->correlation,
		.bytes = bytes,
		.memory = TFS_MEMORY_DEVICE};

	builder_link(scene->builder, scene->latest.unit, scene->correlation++);
	builder_record(scene->builder, TFS_RECORD_device_memory, &record, sizeof(record));
}

uint32_t scene_put_call(struct scene *scene, struct builder_call *call, uint64_t end)
{
	uint32_t unit;

	call->start_ns = scene->now;
	call->duration_ns = end - scene->now;
	unit = builder_call(scene->builder, call);
	count_call(scene, call);
	scene->latest.unit = unit;
	scene->latest.start_ns = call->start_ns;
	if (scene->watched)
		put_api(scene, call, unit);
	scene->now = end + 500;
	return unit;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t scene_all_done(const struct scene *scene)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < scene->streams; i++)
		ns = max(ns, scene->free_ns[i]);
	return ns;
}

static unsigned stream_index(const struct scene *scene, uint16_t id)
{
	unsigned i = 0;

	while (scene->stream_ids[i] != id)
		i++;
	return i;
}

uint64_t scene_stream_ready(const struct scene *scene, unsigned stream)
{
	uint64_t ns = scene->free_ns[stream];

	for (unsigned i = 0; i < scene->streams; i++)
		if (!((scene->stream_flags[stream] | scene->stream_flags[i]) & 4) &&
			((scene->stream_flags[stream] | scene->stream_flags[i]) & 1))
			ns = max(ns, scene->free_ns[i]);
	return ns;
}

uint64_t scene_run_work(struct scene *scene, unsigned stream, uint64_t work_ns, uint64_t *out_start)
{
	*out_start = max(scene->now + LATENCY_NS, scene_stream_ready(scene, stream) + GAP_NS);
	scene->free_ns[stream] = *out_start + work_ns;
	return scene->free_ns[stream];
}

void scene_put_op(struct scene *scene, uint32_t unit, struct tfs_device_op_record *op)
{
	op->correlation = scene->correlation++;
	op->device = (uint16_t)scene->device;
	builder_link(scene->builder, unit, op->correlation);
	builder_record(scene->builder, TFS_RECORD_device_op, op, sizeof(*op));
}

void scene_kernel(struct scene *scene, const char *name)
{
	scene->kernel = builder_kernel(scene->builder, name);
}

void scene_make(struct scene *scene, struct builder_call *call, uint64_t work_ns)
{
	enum tfs_family family = family_of(scene, call->function);
	unsigned stream = call->stream == TFS_NO_STREAM ? 0 : stream_index(scene, call->stream);
	struct tfs_device_op_record op = {.operation = TFS_DEVICE_KERNEL,
		.kernel = scene->kernel,
		.stream = 7 + stream,
		.grid = {scene->blocks, 1, 1}};
	uint32_t unit;

	if (family == TFS_FAMILY_set || family == TFS_FAMILY_set_async)
		op.operation = TFS_DEVICE_MEMSET;
	if (work_ns)
		op.end_ns = scene_run_work(scene, stream, work_ns, &op.start_ns);
	unit = scene_put_call(scene, call, scene->now + SCENE_CALL_NS);
	if (work_ns)
		scene_put_op(scene, unit, &op);
}

uint64_t scene_memory(struct scene *scene, enum tfs_memory_kind kind, uint64_t bytes)
{
	uint64_t address = scene->address;
	struct builder_call call;

	scene->address += (bytes + 0xffff) & ~UINT64_C(0xffff);
	if (kind == TFS_MEMORY_PAGEABLE)
		return address;
	call = kind == TFS_MEMORY_PINNED ? scene_call(scene, 1, 0, TFS_LIBRARY_cudart,
						   TFS_FAMILY_host_alloc, "cudaMallocHost")
					 : scene_call(scene, 2, 0, TFS_LIBRARY_cudart,
						   TFS_FAMILY_alloc, "cudaMalloc");
	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_MEMORY(kind), address, bytes);
	scene_make(scene, &call, 0);
	return address;
}

void scene_phase_step(struct scene *scene, enum tfs_phase phase, uint32_t flags)
{
	if (!scene->in_window)
		builder_window(scene->builder, true, 1, scene->now - 100, 3);
	scene->in_window = true;
	builder_step(scene->builder, ++scene->index, scene->now, phase, flags | 2);
	scene->now += 200;
}

void scene_step(struct scene *scene)
{
	scene_phase_step(scene, TFS_PHASE_TRAINING, 0);
}

uint64_t scene_now(const struct scene *scene)
{
	return scene->now;
}

void scene_host(struct scene *scene, uint64_t ns)
{
	scene->now += ns;
}
