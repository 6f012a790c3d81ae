/* SPDX-License-Identifier: MIT */
/* TFS405, TFS406, TFS408, TFS409: memory that is taken anew in each step. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define SOMEWHERE UINT64_C(0x7e0000000000)
#define EVENT 0x51u

/* What a rule says at a line, or for what reason it says nothing. */
static void says(struct scene *scene, const char *id, enum tfs_state state, const char *text)
{
	const struct tfs_finding *finding;
	bool held;

	scene_judge(scene, NULL);
	finding = scene_finding(scene, id, 10);
	held = TEST_EQ(scene_state(scene, id), state);
	held &= TEST_EQ(scene_findings(scene, id), state == TFS_STATE_VIOLATED);
	if (!TEST_STR(finding ? finding->message : scene_reason(scene, id), text) || !held)
		scene_print(scene);
	scene_destroy(scene);
}

/* Memory that is kept: so many bytes in each of so many steps, from a first one on. */
struct kept {
	enum tfs_memory_kind kind;
	unsigned steps, until; /* of these */
	uint64_t bytes, aside; /* at another line */
};

static void keep(struct scene *scene, unsigned line, const struct kept *kept, uint64_t bytes,
	uint64_t address)
{
	const bool pinned = kept->kind == TFS_MEMORY_PINNED;
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		pinned ? TFS_FAMILY_host_alloc : TFS_FAMILY_alloc,
		pinned ? "cudaMallocHost" : "cudaMalloc");

	call.amount = bytes;
	call.stream = TFS_NO_STREAM;
	builder_operand(&call, TFS_ROLE_MEMORY(kept->kind), address, bytes);
	scene_make(scene, &call, 0);
}

static void creep(const struct kept *kept, enum tfs_state state, const char *text)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 100 * MIB);

	for (unsigned i = 0; i < kept->steps; i++) {
		scene_step(scene);
		scene_launch(scene, 9, SCENE_LEGACY, 50000, 1024, 1, &memory);
		if (i < kept->until)
			keep(scene, 10, kept, kept->bytes, SOMEWHERE + i * 16 * MIB);
		if (kept->aside)
			keep(scene, 11, kept, kept->aside, SOMEWHERE + (i * 16 + 8) * MIB);
	}
	says(scene, "TFS405", state, text);
}

static void memory_creeps(void)
{
	const char *const passed = "the device memory in use does not grow from step to step";

	/* In a third of them 34 MiB more, of which each step makes 1 MiB. */
	creep(&(struct kept){TFS_MEMORY_DEVICE, 50, 50, MIB, 0}, TFS_STATE_VIOLATED,
		"allocates 1.00 MiB of device memory that is not freed, 1 call/step; "
		"what is in use grows by 104 MiB in 100 steps, from 100 MiB");
	/* Who makes less than a fifth of that is not told. */
	creep(&(struct kept){TFS_MEMORY_DEVICE, 50, 50, MIB, 240 * KIB}, TFS_STATE_VIOLATED,
		"allocates 1.00 MiB of device memory that is not freed, 1 call/step; "
		"what is in use grows by 128 MiB in 100 steps, from 100 MiB");
	creep(&(struct kept){TFS_MEMORY_DEVICE, 30, 30, MIB, 0}, TFS_STATE_NOT_MEASURABLE,
		"the device memory in use grows by 20.0 MiB in 29 steps: too few to tell whether it goes on");
	creep(&(struct kept){TFS_MEMORY_DEVICE, 12, 12, MIB, 0}, TFS_STATE_NOT_MEASURABLE,
		"too few steps were judged to see memory grow");
	/* What is filled once; little of what there is; memory of the host. */
	creep(&(struct kept){TFS_MEMORY_DEVICE, 50, 10, MIB, 0}, TFS_STATE_PASSED, passed);
	creep(&(struct kept){TFS_MEMORY_DEVICE, 50, 50, 8 * KIB, 0}, TFS_STATE_PASSED, passed);
	creep(&(struct kept){TFS_MEMORY_PINNED, 50, 50, MIB, 0}, TFS_STATE_PASSED, passed);
}

enum lengths { VARY, VARY_TWICE, VARY_THRICE, STAY, STAY_APART, VARY_KEPT };

/* A buffer for each step's batch, released before the next one's is allocated, or never. */
static void grow(enum lengths lengths, enum tfs_state state, const char *text)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);

	for (unsigned i = 0; i < 30; i++) {
		const bool varies = lengths == VARY || lengths == VARY_KEPT ||
				    (lengths == VARY_TWICE && i % 15 == 14) ||
				    (lengths == VARY_THRICE && i % 9 == 8);
		const uint64_t bytes = (1 + (varies ? i % 3 : 0)) * MIB;
		const uint64_t address = SOMEWHERE + (lengths == VARY_KEPT ? i * 16 * MIB : 0);

		scene_step(scene);
		/* The step's smaller ones do not count. */
		scene_malloc(scene, lengths == STAY_APART ? 13 : 10,
			SOMEWHERE + UINT64_C(0x1000000000), 512 * KIB);
		scene_malloc(scene, 10, address, bytes);
		scene_launch(scene, 11, SCENE_LEGACY, 50000, 1024, 1, &memory);
		scene_free(scene, 12, SOMEWHERE + UINT64_C(0x1000000000));
		if (lengths != VARY_KEPT)
			scene_free(scene, 12, address);
	}
	says(scene, "TFS406", state, text);
}

static void buffers_grow(void)
{
	const char *const passed = "no buffer is released for a larger one from step to step; "
				   "1 call site allocates what does not grow";

	grow(VARY, TFS_STATE_VIOLATED,
		"releases a buffer and allocates a larger one than in the step before, 20 times in 30 steps; "
		"it has 1.00 MiB to 3.00 MiB");
	grow(VARY_THRICE, TFS_STATE_VIOLATED,
		"releases a buffer and allocates a larger one than in the step before, 3 times in 30 steps; "
		"it has 1.00 MiB to 3.00 MiB");
	grow(VARY_TWICE, TFS_STATE_PASSED, passed);
	grow(STAY, TFS_STATE_PASSED, passed);
	grow(STAY_APART, TFS_STATE_PASSED,
		"no buffer is released for a larger one from step to step; "
		"2 call sites allocate what does not grow");
	grow(VARY_KEPT, TFS_STATE_PASSED, passed);
}

/* An allocation that fails until so many others are freed. */
static void retried(unsigned frees, const char *text, const char *failing)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);

	for (unsigned i = 0; i < 30; i++) {
		struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_alloc, "cudaMalloc");

		scene_step(scene);
		scene_launch(scene, 11, SCENE_LEGACY, 50000, 1024, 1, &memory);
		call.amount = 12 * MIB;
		call.status = 2;
		call.stream = TFS_NO_STREAM;
		scene_make(scene, &call, 0);
		for (unsigned j = 0; j < frees; j++) {
			call = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudart,
				TFS_FAMILY_free, "cudaFree");
			call.amount = 16 * MIB;
			call.stream = TFS_NO_STREAM;
			builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
				SOMEWHERE + j * 16 * MIB, 0);
			scene_make(scene, &call, 0);
		}
		scene_malloc(scene, 13, SOMEWHERE + 256 * MIB, 12 * MIB);
		scene_free(scene, 14, SOMEWHERE + 256 * MIB);
		/* What was freed is allocated again. */
		for (unsigned j = 0; j < frees; j++)
			scene_malloc(scene, 15, SOMEWHERE + j * 16 * MIB, 16 * MIB);
	}
	scene_judge(scene, NULL);
	if (frees)
		TEST_STR(scene_reason(scene, "TFS910"), failing);
	else
		TEST_STR(scene_finding(scene, "TFS910", 10) ? "told" : "not told", failing);
	TEST_EQ(scene_findings(scene, "TFS409"), frees > 0);
	if (frees && TEST_TRUE(scene_finding(scene, "TFS409", 10)))
		TEST_STR(scene_finding(scene, "TFS409", 10)->message, text);
	scene_destroy(scene);
}

/* A pool's memory, and what the host waits for in each step. */
struct pool {
	enum { OWN, OTHER, EARLIER } wait; /* for its stream, another one, or its work before */
	bool seen;                         /* the device's activity */
	uint64_t own_ns, other_ns;
	uint64_t keeps;
	enum tfs_state state;
	const char *says;
};

static void release(const struct pool *pool)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);
	const unsigned own = scene_stream(scene, 4), other = scene_stream(scene, 4);

	for (unsigned i = 0; i < 30; i++) {
		struct builder_call call = scene_call(scene, 10, own, TFS_LIBRARY_cudart,
			TFS_FAMILY_alloc_async, "cudaMallocAsync");

		scene_step(scene);
		scene_launch(scene, 11, other, pool->seen ? pool->other_ns : 0, 1024, 1, &memory);
		call.amount = MIB;
		builder_attribute(&call, TFS_ATTRIBUTE_pool_keeps, pool->keeps);
		scene_make(scene, &call, 0);
		scene_event_record(scene, 15, own, EVENT);
		scene_launch(scene, 12, own, pool->seen ? pool->own_ns : 0, 1024, 1, &memory);
		call = scene_call(
			scene, 13, own, TFS_LIBRARY_cudart, TFS_FAMILY_free_async, "cudaFreeAsync");
		scene_make(scene, &call, 0);
		if (pool->wait == EARLIER)
			scene_event_sync(scene, 14, EVENT);
		else
			scene_stream_sync(scene, 14, pool->wait == OWN ? own : other);
	}
	says(scene, "TFS408", pool->state, pool->says);
}

int main(void)
{
	static const struct pool pools[] = {
		/* While the device still works on another stream. */
		{OWN, true, 50000, 500000, 0, TFS_STATE_VIOLATED,
			"allocates 1.00 MiB from a pool that had released its memory, 0.97 calls/step"},
		{OWN, true, 50000, 500000, MIB, TFS_STATE_PASSED,
			"pools keep their memory between steps"},
		{OWN, true, 50000, 500000, MIB - 1, TFS_STATE_VIOLATED,
			"allocates 1.00 MiB from a pool that had released its memory, 0.97 calls/step"},
		/* The other stream is done long before the pool's. */
		{OTHER, true, 500000, 50000, 0, TFS_STATE_PASSED,
			"pools keep their memory between steps"},
		/* That is not known where nothing of the device was seen. */
		{EARLIER, false, 0, 0, 0, TFS_STATE_NOT_MEASURABLE,
			"no GPU activity was recorded: it is not known whether 30 synchronising calls come after the memory was freed"},
		{OWN, false, 0, 0, 0, TFS_STATE_VIOLATED,
			"allocates 1.00 MiB from a pool that had released its memory, 0.97 calls/step"},
	};

	memory_creeps();
	buffers_grow();
	retried(1,
		"fails to allocate 12.0 MiB for want of memory, 1 call/step; 1 allocation per step is freed, and then it succeeds",
		"no call of the judged steps fails, but for allocations that succeed once memory was freed");
	retried(2,
		"fails to allocate 12.0 MiB for want of memory, 1 call/step; 2 allocations per step are freed, and then it succeeds",
		"no call of the judged steps fails, but for allocations that succeed once memory was freed");
	retried(0, NULL, "told");
	for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++)
		release(&pools[i]);
	return test_result();
}
