/* SPDX-License-Identifier: MIT */
#include "tests/unit/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/timeline.h"

#define MOST 64u
#define CALL_NS 3000u
#define LATENCY_NS 4000u
#define GAP_NS 1000u
#define BACK_NS 2000u
#define BLOCK 256u

struct scene_event {
	uint64_t handle;
	uint64_t ns;
};

struct scene {
	struct builder *builder;
	uint64_t now;
	uint64_t address;
	uint64_t index;
	uint32_t correlation;
	bool in_window;
	bool watched;
	const char *apis[MOST];
	unsigned api_count;
	struct {
		uint32_t unit;
		uint64_t start_ns;
	} latest;
	unsigned streams;
	uint16_t stream_ids[MOST];
	uint32_t stream_flags[MOST];
	uint64_t free_ns[MOST];
	struct {
		const char *name;
		uint16_t id;
		enum tfs_family family;
	} functions[MOST];
	unsigned function_count;
	struct {
		unsigned line;
		uint32_t id;
	} sites[MOST];
	unsigned site_count;
	struct scene_event events[MOST];
	unsigned event_count;
	struct tfs_aggregate totals[MOST];
	unsigned total_count;
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	struct tfs_judgement *judgement;
};

static void need(bool held, const char *what)
{
	if (held)
		return;
	printf("scene: %s\n", what);
	exit(1);
}

struct scene *scene_create(bool simulated)
{
	const struct tfs_thread_record thread = {.tid = 77, .name = "main"};
	struct scene *scene = calloc(1, sizeof(*scene));

	need(scene, "no memory");
	scene->builder = builder_create();
	scene->now = 1000000;
	scene->address = UINT64_C(0x7f0000000000);
	scene->correlation = 1;
	builder_record(scene->builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_device(scene->builder, 0, "Scene device", simulated);
	scene_stream(scene, 1);
	return scene;
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

unsigned scene_stream(struct scene *scene, uint32_t flags)
{
	unsigned stream = scene->streams++;

	need(stream < MOST, "too many streams");
	scene->stream_ids[stream] = builder_stream(scene->builder, stream, 7 + stream, flags);
	scene->stream_flags[stream] = flags;
	return stream;
}

static uint16_t function_id(
	struct scene *scene, enum tfs_library library, enum tfs_family family, const char *name)
{
	unsigned i = 0;

	while (i < scene->function_count && strcmp(scene->functions[i].name, name))
		i++;
	need(i < MOST, "too many functions");
	if (i == scene->function_count) {
		scene->functions[i].name = name;
		scene->functions[i].family = family;
		scene->functions[i].id = builder_function(scene->builder, library, family, name);
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
	need(i < MOST, "too many lines");
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
	need(i < MOST, "too many totals");
	scene->totals[i].site = call->site;
	scene->totals[i].function = call->function;
	scene->totals[i].count++;
	scene->totals[i].amount += call->amount;
	scene->totals[i].ticks += call->duration_ns;
	scene->total_count += i == scene->total_count;
}

static uint16_t api_id(struct scene *scene, enum tfs_library domain, const char *name)
{
	unsigned i = 0;

	while (i < scene->api_count && strcmp(scene->apis[i], name))
		i++;
	need(i < MOST, "too many functions watched");
	if (i == scene->api_count) {
		scene->apis[scene->api_count++] = name;
		builder_api(scene->builder, domain, (uint16_t)(i + 1), name);
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

	builder_link(scene->builder, unit, scene->correlation);
	builder_device_api(scene->builder, TFS_LIBRARY_cudart,
		api_id(scene, TFS_LIBRARY_cudart, strstr(name, "cuda") ? name : "cudaLaunchKernel"),
		scene->correlation++, 77, call->start_ns + 100, (uint32_t)call->duration_ns - 200);
}

void scene_watch(struct scene *scene)
{
	scene->watched = true;
}

void scene_unseen(
	struct scene *scene, enum tfs_library domain, const char *name, uint32_t tid, bool inside)
{
	const uint64_t start_ns = inside ? scene->latest.start_ns + 200 : scene->now;

	/* Only a thread's own calls can have its ids. */
	if (inside && tid == 77)
		builder_link(scene->builder, scene->latest.unit, scene->correlation);
	builder_device_api(scene->builder, domain, api_id(scene, domain, name),
		scene->correlation++, tid, start_ns, 300);
	scene->now += inside ? 0 : 500;
}

void scene_late(struct scene *scene, const char *name, uint32_t tid)
{
	builder_device_api(scene->builder, TFS_LIBRARY_cudart,
		api_id(scene, TFS_LIBRARY_cudart, name), scene->correlation++, tid,
		scene->now - 500 - 90, 80);
}

void scene_allocated(struct scene *scene, uint64_t bytes)
{
	const struct tfs_device_memory_record record = {
		.record = {.function = 1, .site = scene->correlation},
		.bytes = bytes,
		.memory = TFS_MEMORY_DEVICE};

	builder_link(scene->builder, scene->latest.unit, scene->correlation++);
	builder_record(scene->builder, TFS_RECORD_device_memory, &record, sizeof(record));
}

/* Puts the call at the host's clock and moves that on. */
static uint32_t put_call(struct scene *scene, struct builder_call *call, uint64_t end)
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

static uint64_t all_done(const struct scene *scene)
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

/* When work of this stream can begin: blocking streams and the legacy one wait for each other. */
static uint64_t stream_ready(const struct scene *scene, unsigned stream)
{
	uint64_t ns = scene->free_ns[stream];

	for (unsigned i = 0; i < scene->streams; i++)
		if (!((scene->stream_flags[stream] | scene->stream_flags[i]) & 4) &&
			((scene->stream_flags[stream] | scene->stream_flags[i]) & 1))
			ns = max(ns, scene->free_ns[i]);
	return ns;
}

static uint64_t run_work(
	struct scene *scene, unsigned stream, uint64_t work_ns, uint64_t *out_start)
{
	*out_start = max(scene->now + LATENCY_NS, stream_ready(scene, stream) + GAP_NS);
	scene->free_ns[stream] = *out_start + work_ns;
	return scene->free_ns[stream];
}

static void put_op(struct scene *scene, uint32_t unit, struct tfs_device_op_record *op)
{
	op->correlation = scene->correlation++;
	builder_link(scene->builder, unit, op->correlation);
	builder_record(scene->builder, TFS_RECORD_device_op, op, sizeof(*op));
}

void scene_make(struct scene *scene, struct builder_call *call, uint64_t work_ns)
{
	enum tfs_family family = family_of(scene, call->function);
	unsigned stream = call->stream == TFS_NO_STREAM ? 0 : stream_index(scene, call->stream);
	struct tfs_device_op_record op = {
		.record = {.function = TFS_DEVICE_KERNEL, .site = 1}, .stream = 7 + stream};
	uint32_t unit;

	if (family == TFS_FAMILY_set || family == TFS_FAMILY_set_async)
		op.record.function = TFS_DEVICE_MEMSET;
	if (work_ns)
		op.end_ns = run_work(scene, stream, work_ns, &op.start_ns);
	unit = put_call(scene, call, scene->now + CALL_NS);
	if (work_ns)
		put_op(scene, unit, &op);
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

void scene_copy(struct scene *scene, unsigned line, unsigned stream, bool async, bool up,
	enum tfs_memory_kind host, uint64_t device, uint64_t bytes, uint64_t work_ns)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		async ? TFS_FAMILY_copy_async : TFS_FAMILY_copy,
		async ? "cudaMemcpyAsync" : "cudaMemcpy");
	struct tfs_device_op_record op = {
		.record = {.function = TFS_DEVICE_MEMCPY, .site = up ? 1 : 2},
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
	op.end_ns = run_work(scene, stream, work_ns, &op.start_ns);
	put_op(scene, put_call(scene, &call, waits ? op.end_ns + BACK_NS : scene->now + CALL_NS),
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
	scene_make(scene, &call, work_ns);
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
	put_call(scene, call, max(scene->now, ns) + BACK_NS);
}

void scene_device_sync(struct scene *scene, unsigned line)
{
	struct builder_call call = scene_call(scene, line, 0, TFS_LIBRARY_cudart,
		TFS_FAMILY_device_sync, "cudaDeviceSynchronize");

	call.stream = TFS_NO_STREAM;
	wait_until(scene, &call, all_done(scene));
}

void scene_stream_sync(struct scene *scene, unsigned line, unsigned stream)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_stream_sync, "cudaStreamSynchronize");

	wait_until(scene, &call, stream_ready(scene, stream));
}

static struct scene_event *event_of(struct scene *scene, uint64_t handle)
{
	unsigned i = 0;

	while (i < scene->event_count && scene->events[i].handle != handle)
		i++;
	need(i < MOST, "too many events");
	scene->events[i].handle = handle;
	scene->event_count += i == scene->event_count;
	return &scene->events[i];
}

void scene_event_record(struct scene *scene, unsigned line, unsigned stream, uint64_t event)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_event_record, "cudaEventRecord");

	builder_attribute(&call, TFS_ATTRIBUTE_event, event);
	event_of(scene, event)->ns = stream_ready(scene, stream);
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
	wait_until(scene, &call, all_done(scene));
}

const struct tfs_judgement *scene_judge(
	struct scene *scene, const struct tfs_judge_options *options)
{
	if (scene->in_window) {
		builder_step(scene->builder, scene->index + 1, scene->now, TFS_PHASE_OTHER, 2);
		builder_window(scene->builder, false, 1, scene->now + 100, 3);
	}
	for (unsigned i = 0; i < scene->total_count; i++)
		builder_aggregate(scene->builder, &scene->totals[i]);
	scene->trace = builder_open(scene->builder);
	need(scene->trace, "the recording cannot be read");
	need(!tfs_timeline_create(scene->trace, &scene->timeline), "no timeline");
	need(!tfs_judge(scene->timeline, options, &scene->judgement), "not judged");
	return scene->judgement;
}

const struct tfs_judgement *scene_judgement(const struct scene *scene)
{
	return scene->judgement;
}

enum tfs_state scene_state(const struct scene *scene, const char *id)
{
	for (size_t i = 0; i < scene->judgement->rule_count; i++)
		if (!strcmp(scene->judgement->rules[i].rule->id, id))
			return scene->judgement->rules[i].verdict.state;
	need(false, "no such rule");
	return TFS_STATE_WAIVED;
}

const struct tfs_finding *scene_finding(const struct scene *scene, const char *id, unsigned line)
{
	for (size_t i = 0; i < scene->judgement->finding_count; i++) {
		const struct tfs_finding *finding = &scene->judgement->findings[i];
		const uint64_t *frames;

		if (strcmp(finding->rule->id, id))
			continue;
		if (!line || (tfs_trace_frames(scene->trace, finding->site, &frames) &&
				     frames[0] == 0x401000 + line * 16))
			return finding;
	}
	return NULL;
}

unsigned scene_findings(const struct scene *scene, const char *id)
{
	unsigned count = 0;

	for (size_t i = 0; i < scene->judgement->finding_count; i++)
		count += !strcmp(scene->judgement->findings[i].rule->id, id);
	return count;
}

void scene_print(const struct scene *scene)
{
	static const char *const states[] = {"passed", "violated", "not measurable", "waived"};
	const struct tfs_judgement *judgement = scene->judgement;

	printf("%s\n", judgement->verdict);
	for (size_t i = 0; i < judgement->rule_count; i++)
		printf("  %s %s: %s\n", judgement->rules[i].rule->id,
			states[judgement->rules[i].verdict.state],
			judgement->rules[i].verdict.reason);
	for (size_t i = 0; i < judgement->finding_count; i++)
		printf("  %s level %d group %u: %s; %.0f [%.0f, %.0f] ns, %s\n",
			judgement->findings[i].rule->id, (int)judgement->findings[i].level,
			judgement->findings[i].group, judgement->findings[i].message,
			judgement->findings[i].cost.ns, judgement->findings[i].cost.low_ns,
			judgement->findings[i].cost.high_ns, judgement->findings[i].cost.method);
}
