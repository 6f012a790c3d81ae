/* SPDX-License-Identifier: MIT */
/* Calls seen by hooks against calls seen by CUPTI: TFS904, TFS903, and what libraries did. */
#include <string.h>

#include "rules/timeline/pairs.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define NONE (-1)           /* nothing lost */
#define HIDDEN (1u << 0)    /* one copy more in each step, by this thread */
#define ELSEWHERE (1u << 1) /* one launch in each step by a thread that no hook sees */
#define DRIVER (1u << 2)    /* each launch has a driver call inside it */
#define LIBRARY (1u << 3)   /* and a call of cuBLAS */
#define CAPTURED (1u << 5)  /* launches that only go into a graph */
#define LAZY (1u << 6)      /* launches without a kernel record */
#define MEANWHILE (1u << 4) /* likewise, while the program waits */
#define RARE (1u << 7)      /* one hidden copy in all */
#define BLIND (1u << 8)     /* of two copies CUPTI saw one */
#define DEEP (1u << 9)      /* a library was opened with RTLD_DEEPBIND */
#define SHARED (1u << 10)   /* the runtime is shared, ... */
#define STATIC (1u << 11)   /* ... or linked in, and seen at the driver, ... */
#define UNDRIVEN (1u << 12) /* ... where nobody watches */
#define OWN (1u << 13)      /* allocations by the program itself */

static void step(struct scene *scene, unsigned what, uint64_t memory, unsigned nth)
{
	scene_step(scene);
	scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
	if (what & DRIVER)
		scene_unseen(
			scene, TFS_LIBRARY_cuda, TFS_FAMILY_launch, "cuLaunchKernel", 77, true);
	if (what & LIBRARY) {
		scene_gemm(scene, 12, memory, memory, 4096, false, 50000);
		if (nth < 2)
			scene_allocated(scene, 1500000);
	}
	if (what & OWN && nth < 2) {
		scene_malloc(scene, 19, UINT64_C(0x7e0000000000) + nth * 4096, 4096);
		scene_allocated(scene, 4096);
	}
	if (what & HIDDEN || (what & RARE && nth == 5)) {
		scene_unseen(scene, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy", 77, false);
		scene_copy(scene, 13, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED, memory, 4096,
			2000);
	}
	if (what & BLIND) {
		struct builder_call copy = scene_call(
			scene, 18, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");

		scene_copy(scene, 13, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED, memory, 4096,
			2000);
		copy.start_ns = scene_now(scene);
		copy.duration_ns = 300;
		builder_call(scene_builder(scene), &copy);
		scene_host(scene, 500);
	}
	for (unsigned i = 0; i < 3 && what & RARE; i++)
		scene_copy(scene, 13, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED, memory, 4096,
			2000);
	if (what & ELSEWHERE)
		scene_unseen(
			scene, TFS_LIBRARY_cuda, TFS_FAMILY_launch, "cuLaunchKernel", 99, false);
	if (what & CAPTURED) {
		struct builder_call begin = scene_call(scene, 14, 0, TFS_LIBRARY_cudart,
			TFS_FAMILY_capture, "cudaStreamBeginCapture");
		struct builder_call end = scene_call(scene, 15, 0, TFS_LIBRARY_cudart,
			TFS_FAMILY_capture_end, "cudaStreamEndCapture");

		scene_make(scene, &begin, 0);
		scene_launch(scene, 16, SCENE_LEGACY, 0, 1024, 1, &memory);
		scene_make(scene, &end, 0);
	}
	if (what & LAZY)
		scene_launch(scene, 17, SCENE_LEGACY, 0, 1024, 1, &memory);
	scene_device_sync(scene, 11);
	if (what & MEANWHILE)
		scene_unseen(
			scene, TFS_LIBRARY_cuda, TFS_FAMILY_launch, "cuLaunchKernel", 99, true);
}

static struct scene *make(unsigned what, int loss, bool killed)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	struct tfs_file_header *header;
	size_t size;

	if (what & (SHARED | STATIC | UNDRIVEN))
		builder_library(scene_builder(scene), TFS_LIBRARY_cudart,
			what & SHARED ? "/somewhere/libcudart.so.13" : "", 13000,
			what & SHARED   ? 1
			: what & STATIC ? 3
					: 2);
	if (what & DEEP)
		builder_fact(scene_builder(scene), TFS_FACT_deepbind, "libplugin.so", 0);
	scene_watch(scene);
	for (unsigned i = 0; i < STEPS; i++)
		step(scene, what, memory, i);
	header = (struct tfs_file_header *)builder_bytes(scene_builder(scene), &size);
	if (loss != NONE)
		header->lost[loss] = 7;
	header->finished = !killed;
	scene_judge(scene, NULL);
	return scene;
}

/* The rule's state, and what its finding or its reason says. */
static void expect(struct scene *scene, const char *id, enum tfs_state state, const char *text)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const struct tfs_finding *finding = scene_finding(scene, id, 0);
	const char *says = finding ? finding->message : "";

	for (size_t i = 0; !finding && i < judgement->rule_count; i++)
		if (!strcmp(judgement->rules[i].rule->id, id))
			says = judgement->rules[i].verdict.reason;
	TEST_EQ(scene_state(scene, id), state);
	if (!TEST_TRUE(strstr(says, text)))
		printf("  %s says: %s\n  not: %s\n", id, says, text);
}

static void check(unsigned what, enum tfs_state state, const char *text)
{
	struct scene *scene = make(what, NONE, false);

	expect(scene, "TFS904", state, text);
	scene_destroy(scene);
}

/* Each advice, and whether a cause that is known asks for it. */
static void advised(unsigned what, unsigned advice)
{
	static const char *const parts[] = {"link that library instead", "no hooks for",
		"nvcc -cudart shared", "Remove driver=0 from", "deepbind=0",
		"more calls than CUPTI"};
	struct scene *scene = make(what, NONE, false);
	const struct tfs_finding *finding = scene_finding(scene, "TFS904", 0);

	TEST_NEED(finding);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!TEST_EQ(strstr(finding->advice, parts[i]) != NULL, advice >> i & 1))
			printf("  of %#x: %s: %s\n", what, parts[i], finding->advice);
	scene_destroy(scene);
}

static void advice_is_for_what_is_known(void)
{
	advised(SHARED | HIDDEN, 1 | 2);
	advised(SHARED | ELSEWHERE, 1 | 2);
	advised(STATIC | HIDDEN, 1 | 2 | 4);
	advised(UNDRIVEN, 4 | 8);
	advised(SHARED | DEEP, 16);
	advised(SHARED | BLIND, 32);
	advised(SHARED | DEEP | HIDDEN, 1 | 2 | 16);
}

static void both_see_the_same(void)
{
	struct scene *scene = make(DRIVER | LIBRARY, NONE, false);
	const struct tfs_visibility *seen = &scene_judgement(scene)->visibility;

	expect(scene, "TFS904", TFS_STATE_PASSED, "call counts agree (2 functions)");
	expect(scene, "TFS903", TFS_STATE_PASSED, "of 30 launches, 30 have");
	TEST_TRUE(seen->agrees);
	TEST_EQ(seen->pairs->count, 2);
	TEST_EQ(seen->pairs->hooks, 2 * STEPS);
	TEST_EQ(seen->pairs->cupti, 2 * STEPS);
	TEST_STR(seen->runtimes,
		"inside calls of cuBLAS: 30 launches, 2 allocations of 2.86 MiB in total");
	scene_destroy(scene);
}

/* What the program allocates itself is none of a runtime that hooks do not reach. */
static void own_allocations_are_seen(void)
{
	struct scene *scene = make(OWN, NONE, false);
	const struct tfs_visibility *seen = &scene_judgement(scene)->visibility;

	expect(scene, "TFS904", TFS_STATE_PASSED, "call counts agree");
	TEST_STR(seen->runtimes, "none");
	scene_destroy(scene);
}

static void a_call_that_hooks_miss(void)
{
	struct scene *scene = make(HIDDEN, NONE, false);
	const struct tfs_visibility *seen = &scene_judgement(scene)->visibility;

	expect(scene, "TFS904", TFS_STATE_VIOLATED,
		"cudaMemcpy: 30 calls seen by hooks, 60 by CUPTI");
	TEST_TRUE(!seen->agrees);
	TEST_STR(seen->pairs->pairs[0].name, "cudaMemcpy");
	TEST_STR(seen->runtimes, "inside no call that a hook saw: 30 copies");
	scene_destroy(scene);
}

static void a_thread_that_hooks_miss(void)
{
	struct scene *scene = make(ELSEWHERE, NONE, false);

	expect(scene, "TFS904", TFS_STATE_VIOLATED,
		"cuLaunchKernel: 0 calls seen by hooks, 30 by CUPTI");
	TEST_STR(scene_judgement(scene)->visibility.runtimes,
		"inside no call that a hook saw: 30 launches (threads that no hook saw: 1)");
	scene_destroy(scene);
}

/* What may be a record that was lost is no evidence. */
static void losses(void)
{
	static const struct {
		enum tfs_loss loss;
		const char *text;
	} cases[] = {
		{TFS_LOSS_cupti_dropped, "7 records were dropped by CUPTI"},
		{TFS_LOSS_cupti_unknown, "7 records of CUPTI were of unknown kinds"},
		{TFS_LOSS_records_dropped, "7 records did not fit"},
		{TFS_LOSS_threads_failed, "7 threads were not recorded"},
	};
	struct scene *scene;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		scene = make(HIDDEN | LAZY, (int)cases[i].loss, false);
		expect(scene, "TFS904", TFS_STATE_NOT_MEASURABLE, cases[i].text);
		expect(scene, "TFS903", TFS_STATE_NOT_MEASURABLE, cases[i].text);
		scene_destroy(scene);
	}
	scene = make(HIDDEN | LAZY, NONE, true);
	expect(scene, "TFS904", TFS_STATE_NOT_MEASURABLE, "ended before CUPTI");
	expect(scene, "TFS903", TFS_STATE_NOT_MEASURABLE, "ended before CUPTI");
	scene_destroy(scene);
}

static void launches(void)
{
	struct scene *scene = make(LAZY, NONE, false);

	expect(scene, "TFS903", TFS_STATE_VIOLATED, "of 60 recorded launches, only 30 have");
	scene_destroy(scene);
	scene = make(CAPTURED, NONE, false);
	expect(scene, "TFS903", TFS_STATE_PASSED, "of 30 launches, 30 have");
	scene_destroy(scene);
}

/* Clocks differ: a call that was made right behind another one seems to lie in it. */
static void clocks_differ(void)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	scene_watch(scene);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		/* Without an id of the wait's. */
		scene_late(scene, TFS_FAMILY_copy, "cudaMemcpy", 77);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS904", TFS_STATE_VIOLATED,
		"cudaMemcpy: 0 calls seen by hooks, 30 by CUPTI");
	scene_destroy(scene);
}

static const char *fact_text(const struct scene *scene, const char *key)
{
	const struct tfs_visibility *seen = &scene_judgement(scene)->visibility;

	for (size_t i = 0; i < seen->fact_count; i++)
		if (!strcmp(seen->facts[i].key, key))
			return seen->facts[i].text;
	return NULL;
}

static void facts_have_units(void)
{
	struct scene *scene = scene_create(false);

	scene_step(scene);
	builder_fact(scene_builder(scene), TFS_FACT_staging_pinned, NULL, 32 << 20);
	builder_fact(scene_builder(scene), TFS_FACT_search_time, NULL, 38400000);
	scene_judge(scene, NULL);
	TEST_STR(fact_text(scene, "staging.pinned"), "32.0 MiB pinned for staging");
	TEST_STR(fact_text(scene, "cudnn-search time"), "38.4 ms");
	scene_destroy(scene);
}

int main(void)
{
	facts_have_units();
	clocks_differ();
	advice_is_for_what_is_known();
	both_see_the_same();
	own_allocations_are_seen();
	a_call_that_hooks_miss();
	a_thread_that_hooks_miss();
	check(MEANWHILE, TFS_STATE_VIOLATED, "cuLaunchKernel: 0 calls seen by hooks, 30 by CUPTI");
	check(RARE, TFS_STATE_PASSED, "call counts agree");
	check(UNDRIVEN, TFS_STATE_VIOLATED,
		"no shared cudart is loaded, and with driver=0 driver calls are not seen");
	losses();
	launches();
	return test_result();
}
