/* SPDX-License-Identifier: MIT */
/* Waits that results rest on: which of a step's it is, and what for. */
#include "rules/evidence/guards.h"

#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BUFFER UINT64_C(0x10000000) /* of the host */
#define OTHER UINT64_C(0x20000000)
#define BYTES (UINT64_C(1) << 20)
#define EARLY (UINT64_C(64) << 10) /* pageable copies up to this size are over when they return */
#define EVENT 0x51u
#define LATER 0x52u

enum { REFILL = TFS_GUARDS_REFILL, READ = TFS_GUARDS_READ, SHARED = TFS_GUARDS_SHARED };

struct program {
	struct scene *scene;
	uint64_t device;
	uint64_t host;       /* memory that both use without a copy, where there is some */
	unsigned one, other; /* streams */
};

static void copy_of(const struct program *p, unsigned line, unsigned stream, bool up,
	enum tfs_memory_kind kind, uint64_t host, uint64_t bytes)
{
	struct builder_call call = scene_call(p->scene, line, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(up ? TFS_MEMORY_DEVICE : kind),
		up ? p->device : host, bytes);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(up ? kind : TFS_MEMORY_DEVICE),
		up ? host : p->device, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, up ? 1 : 2);
	scene_make(p->scene, &call, 5000);
}

static void upload(const struct program *p)
{
	copy_of(p, 10, p->one, true, TFS_MEMORY_PINNED, BUFFER, BYTES);
}

static void wait(const struct program *p, unsigned line)
{
	scene_stream_sync(p->scene, line, p->one);
}

static void product(const struct program *p, unsigned stream, uint64_t memory)
{
	struct builder_call call = scene_call(
		p->scene, 11, stream, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");

	/* As the hooks of libraries have it. */
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), memory, 4096);
	scene_make(p->scene, &call, 5000);
}

static void refilled(const struct program *p)
{
	upload(p);
	wait(p, 20);
	wait(p, 21);
}

static void read_by_host(const struct program *p)
{
	copy_of(p, 10, p->one, false, TFS_MEMORY_PINNED, BUFFER, BYTES);
	wait(p, 20);
	wait(p, 21);
}

/* An event right behind the copy is its own; the wait for that is the one that is needed. */
static void with_event(const struct program *p)
{
	upload(p);
	scene_event_record(p->scene, 12, p->one, EVENT);
	scene_event_record(p->scene, 12, p->one, LATER);
	wait(p, 20);
	scene_event_sync(p->scene, 21, EVENT);
}

static void with_second_event(const struct program *p)
{
	upload(p);
	scene_event_record(p->scene, 12, p->one, EVENT);
	scene_event_record(p->scene, 12, p->one, LATER);
	wait(p, 20);
	scene_event_sync(p->scene, 21, LATER);
}

static void with_event_behind_more(const struct program *p)
{
	upload(p);
	product(p, p->one, p->device);
	scene_event_record(p->scene, 12, p->one, EVENT);
	wait(p, 20);
	scene_event_sync(p->scene, 21, EVENT);
}

static void with_event_elsewhere(const struct program *p)
{
	upload(p);
	scene_event_record(p->scene, 12, p->other, EVENT);
	wait(p, 20);
	scene_event_sync(p->scene, 21, EVENT);
}

/* Copies to pageable memory may wait for what is before them. */
static void perhaps_waited_for(const struct program *p)
{
	upload(p);
	copy_of(p, 22, p->one, false, TFS_MEMORY_PAGEABLE, OTHER, 4);
	copy_of(p, 23, p->one, false, TFS_MEMORY_PAGEABLE, OTHER + 64, 4);
	wait(p, 20);
	wait(p, 21);
}

static void waited_for_before(const struct program *p)
{
	upload(p);
	wait(p, 20);
	copy_of(p, 22, p->one, false, TFS_MEMORY_PAGEABLE, OTHER, 4);
	wait(p, 21);
}

static void large_pageable(const struct program *p)
{
	copy_of(p, 10, p->one, true, TFS_MEMORY_PAGEABLE, BUFFER, EARLY + 1);
	wait(p, 20);
	wait(p, 21);
}

static void small_pageable(const struct program *p)
{
	copy_of(p, 10, p->one, true, TFS_MEMORY_PAGEABLE, BUFFER, EARLY);
	wait(p, 20);
	wait(p, 21);
}

static void launched(const struct program *p)
{
	scene_launch(p->scene, 11, p->one, 5000, 1024, 1, &p->device);
	wait(p, 20);
	wait(p, 21);
}

/* What copies use is there for them: a kernel is not thought to use it, too. */
static void launched_beside_staging(const struct program *p)
{
	copy_of(p, 10, p->other, true, TFS_MEMORY_PINNED, p->host, 4096);
	launched(p);
}

static void multiplied(const struct program *p)
{
	product(p, p->one, p->host);
	wait(p, 20);
	wait(p, 21);
}

static void of_family(const struct program *p, enum tfs_family family, const char *name)
{
	struct builder_call call =
		scene_call(p->scene, 11, p->one, TFS_LIBRARY_cudart, family, name);

	scene_make(p->scene, &call, 5000);
	wait(p, 20);
	wait(p, 21);
}

static void called_back(const struct program *p)
{
	of_family(p, TFS_FAMILY_host_func, "cudaLaunchHostFunc");
}

static void launched_graph(const struct program *p)
{
	of_family(p, TFS_FAMILY_graph_launch, "cudaGraphLaunch");
}

/* A wait for some of such work leaves the rest to another. */
static void in_two_parts(const struct program *p)
{
	product(p, p->one, p->host);
	scene_event_record(p->scene, 12, p->one, EVENT);
	product(p, p->one, p->host);
	scene_event_sync(p->scene, 20, EVENT);
	wait(p, 21);
	wait(p, 23);
}

/* A call that waits for its own work leaves none of it to wait for, and needs no wait itself. */
static void waits_itself(const struct program *p)
{
	struct builder_call norm = scene_call(
		p->scene, 22, p->one, TFS_LIBRARY_cublas, TFS_FAMILY_blas, "cublasSnrm2_v2");

	builder_operand(&norm, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), p->host, 4096);
	builder_attribute(&norm, TFS_ATTRIBUTE_host_result, 1);
	scene_make(p->scene, &norm, 5000);
	wait(p, 20);
	wait(p, 21);
}

static const struct scenario {
	void (*step)(const struct program *p);
	enum tfs_memory_kind memory;  /* that is there besides the device's */
	uint32_t first, second, copy; /* what lines 20, 21 and 22 are needed for */
	uint32_t last;                /* lines 20 and 21 in the last step */
	uint32_t third;               /* line 23 */
} scenarios[] = {
	/* Behind the last step nothing is filled any more, and may be read. */
	{refilled, TFS_MEMORY_DEVICE, REFILL, 0, 0, 0, 0},
	{read_by_host, TFS_MEMORY_DEVICE, READ, 0, 0, READ, 0},
	{with_event, TFS_MEMORY_DEVICE, 0, REFILL, 0, 0, 0},
	{with_second_event, TFS_MEMORY_DEVICE, REFILL, 0, 0, 0, 0},
	{with_event_behind_more, TFS_MEMORY_DEVICE, REFILL, 0, 0, 0, 0},
	{with_event_elsewhere, TFS_MEMORY_DEVICE, REFILL, 0, 0, 0, 0},
	{perhaps_waited_for, TFS_MEMORY_DEVICE, REFILL | READ, 0, REFILL, READ, READ},
	{waited_for_before, TFS_MEMORY_DEVICE, REFILL, READ, 0, READ, 0},
	{large_pageable, TFS_MEMORY_DEVICE, REFILL, 0, 0, 0, 0},
	{small_pageable, TFS_MEMORY_DEVICE, 0, 0, 0, 0, 0},
	{launched, TFS_MEMORY_DEVICE, 0, 0, 0, 0, 0},
	{launched, TFS_MEMORY_PINNED, SHARED, 0, 0, SHARED, 0},
	{launched, TFS_MEMORY_MANAGED, SHARED, 0, 0, SHARED, 0},
	{launched_beside_staging, TFS_MEMORY_PINNED, 0, 0, 0, 0, 0},
	{multiplied, TFS_MEMORY_DEVICE, 0, 0, 0, 0, 0},
	{multiplied, TFS_MEMORY_PINNED, SHARED, 0, 0, SHARED, 0},
	{multiplied, TFS_MEMORY_MANAGED, SHARED, 0, 0, SHARED, 0},
	{called_back, TFS_MEMORY_DEVICE, SHARED, 0, 0, SHARED, 0},
	{launched_graph, TFS_MEMORY_DEVICE, SHARED, 0, 0, SHARED, 0},
	{in_two_parts, TFS_MEMORY_PINNED, SHARED, SHARED, 0, SHARED, 0},
	{waits_itself, TFS_MEMORY_PINNED, 0, 0, 0, 0, 0},
};

/* What the calls of a line in a step are needed for. */
static uint32_t needed(const struct tfs_steady *steady, uint64_t index, unsigned line)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint64_t *frames;
	uint32_t needed = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		TEST_NEED(tfs_trace_frames(timeline->trace, call->record->site, &frames));
		if (frames[0] == 0x401000 + line * 16 && timeline->steps[call->step].index == index)
			needed |= tfs_guards_at(steady, steady->calls[i]);
	}
	return needed;
}

static void check(const struct scenario *scenario, int nth)
{
	struct program p = {.scene = scene_create(false)};
	struct tfs_steady steady;
	bool held;

	p.device = scene_memory(p.scene, TFS_MEMORY_DEVICE, BYTES);
	p.host = scene_memory(p.scene, scenario->memory, BYTES);
	p.one = scene_stream(p.scene, 4);
	p.other = scene_stream(p.scene, 4);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(p.scene);
		scenario->step(&p);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(p.scene, NULL)->timeline, 0), 0);
	TEST_EQ(steady.step_count, STEPS);
	held = TEST_EQ(needed(&steady, STEPS / 2, 20), scenario->first);
	held &= TEST_EQ(needed(&steady, STEPS / 2, 21), scenario->second);
	held &= TEST_EQ(needed(&steady, STEPS / 2, 22), scenario->copy);
	held &= TEST_EQ(needed(&steady, STEPS / 2, 23), scenario->third);
	held &= TEST_EQ(needed(&steady, STEPS, 20) | needed(&steady, STEPS, 21), scenario->last);
	if (!held)
		printf("  of scenario %d\n", nth);
	tfs_steady_finish(&steady);
	scene_destroy(p.scene);
}

/* As tensor.item() is in a trace of PyTorch's profiler: a copy of 4 bytes, and a wait for it. */
static void read_by_item(struct scene *scene, unsigned stream, uint64_t memory)
{
	struct builder_call copy = scene_call(
		scene, 10, stream, TFS_LIBRARY_cudart, TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	scene_launch(scene, 9, stream, 50000, 1024, 1, &memory);
	copy.amount = 4;
	builder_attribute(&copy, TFS_ATTRIBUTE_copy_kind, 2);
	scene_make(scene, &copy, 5000);
	scene_stream_sync(scene, 11, stream);
	scene_launch(scene, 9, stream, 50000, 1024, 1, &memory);
	scene_free(scene, 12, OTHER);
}

/* Recordings of other tools have no addresses: what rests on a wait cannot be told. */
static void without_addresses(bool imported)
{
	struct scene *scene = scene_create(false);
	const unsigned stream = scene_stream(scene, 4);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const struct tfs_finding *wait, *release;

	if (imported)
		builder_fact(scene_builder(scene), TFS_FACT_imported, "a tool", 0);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		read_by_item(scene, stream, memory);
	}
	scene_judge(scene, NULL);
	wait = scene_finding(scene, "TFS201", 11);
	release = scene_finding(scene, "TFS202", 12);
	TEST_NEED(wait && release);
	TEST_EQ(wait->level, imported ? TFS_LEVEL_NOTE : TFS_LEVEL_ERROR);
	TEST_EQ(wait->removes, !imported);
	TEST_EQ(strstr(wait->advice, "Remove the call only if the host reads no copied value") !=
			NULL,
		imported);
	TEST_EQ(strstr(wait->advice, ".item()") != NULL, imported);
	TEST_EQ(release->level == TFS_LEVEL_NOTE, imported);
	TEST_EQ(!strncmp(release->advice, "Allocate this buffer once", 25), true);
	TEST_EQ(strstr(release->advice, "which memory the host uses after this call") != NULL,
		imported);
	scene_destroy(scene);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(&scenarios[i], (int)i);
	without_addresses(false);
	without_addresses(true);
	return test_result();
}
