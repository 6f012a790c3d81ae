/* SPDX-License-Identifier: MIT */
/* What a report says of the recording itself: whether it can be judged, and what it did not see. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define WORK UINT64_C(100000)

static struct scene *scene;

/* A kernel and a wait in each step; of so many steps the device had more to do, without a call. */
static void put_steps(unsigned untied)
{
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		if (i < untied)
			builder_device_op(scene_builder(scene), TFS_DEVICE_KERNEL, 1, 7, 90000 + i,
				scene_now(scene) + 10 * WORK / 9, scene_now(scene) + 11 * WORK / 9,
				0);
		scene_device_sync(scene, 11);
		scene_host(scene, i % 2 ? WORK / 2 : WORK);
	}
}

static struct tfs_file_header *header(void)
{
	size_t size;

	return (struct tfs_file_header *)(void *)builder_bytes(scene_builder(scene), &size);
}

static void a_device_without_a_name(void)
{
	scene = scene_create_named("");
	put_steps(0);
	TEST_TRUE(!scene_judge(scene, NULL)->usable);
	TEST_STR(
		scene_judgement(scene)->verdict, "not judged: the recording does not name the GPU");
	scene_destroy(scene);
}

/* Every other step is longer by 50 us: 25 us from the mean, of 30 steps. */
static void steps_that_differ(void)
{
	const struct tfs_judgement *judgement;

	scene = scene_create(false);
	put_steps(0);
	judgement = scene_judge(scene, NULL);
	TEST_TRUE(judgement->usable);
	TEST_EQ(lround(judgement->steps.spread_ns / 100), lround(25000 / sqrt(29) / 100));
	scene_destroy(scene);
}

/* Where records are missing, a rewrite may have done more: unless the last word on it is there. */
static void more_than_is_told(bool closed, uint64_t dropped, uint64_t applied, bool more)
{
	struct tfs_rewrite_record record = {.state = TFS_REWRITE_APPLY, .applied = applied};
	const struct tfs_rewrite_record nameless = {.state = TFS_REWRITE_APPLY};

	scene = scene_create(false);
	put_steps(0);
	record.name = builder_string(scene_builder(scene), "sync-narrowing");
	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &nameless, sizeof(nameless));
	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
	header()->finished = closed;
	header()->lost[TFS_LOSS_records_dropped] = dropped;
	scene_judge(scene, NULL);
	/* Whose the nameless one is cannot be told. */
	TEST_NEED(scene_judgement(scene)->rewrite_count == 1);
	TEST_STR(scene_judgement(scene)->rewrites[0].name, "sync-narrowing");
	TEST_EQ(scene_judgement(scene)->rewrites[0].more, more);
	scene_destroy(scene);
}

/* What part of the device's work no call explains, if that is worth a word. */
static void work_without_calls(unsigned untied, const char *says)
{
	const struct tfs_visibility *seen;

	scene = scene_create(false);
	put_steps(untied);
	seen = &scene_judge(scene, NULL)->visibility;
	TEST_EQ(seen->partial, says != NULL);
	if (says && !TEST_TRUE(strstr(seen->text, says)))
		printf("  %s\n", seen->text);
	scene_destroy(scene);
}

/* A library is hooked where calls to it were seen: to one that is linked in, at the driver's. */
static void libraries(void)
{
	static const struct {
		enum tfs_library library;
		uint32_t flags;
		bool hooked, linked;
	} list[] = {{TFS_LIBRARY_cudart, 1, true, false}, {TFS_LIBRARY_cudnn, 1, false, false},
		{TFS_LIBRARY_cublas, 0, false, false}, {TFS_LIBRARY_nccl, 3, false, true}};
	const struct tfs_visibility *seen;

	scene = scene_create(false);
	for (size_t i = 0; i < 4; i++)
		builder_library(scene_builder(scene), list[i].library, "/somewhere/lib.so", 13000,
			list[i].flags);
	scene_gemm(scene, 20, 0x1000, 0x2000, 64, false, 0);
	put_steps(0);
	seen = &scene_judge(scene, NULL)->visibility;
	TEST_NEED(seen->library_count == 4);
	for (size_t i = 0; i < 4; i++) {
		if (!TEST_EQ(seen->libraries[i].hooked, list[i].hooked))
			printf("  %s\n", seen->libraries[i].name);
		TEST_EQ(seen->libraries[i].static_copy, list[i].linked);
	}
	scene_destroy(scene);
}

/* Of a runtime that is linked in the calls are its own or the driver's. */
static void linked_in(bool driver)
{
	struct builder_call call;

	scene = scene_create(false);
	builder_library(scene_builder(scene), TFS_LIBRARY_cudart, "", 13000, 3);
	put_steps(0);
	if (driver) {
		call = scene_call(scene, 20, SCENE_LEGACY, TFS_LIBRARY_cuda, TFS_FAMILY_other,
			"cuCtxGetCurrent");
		scene_make(scene, &call, 0);
	}
	TEST_EQ(scene_judge(scene, NULL)->visibility.libraries[0].hooked, driver);
	scene_destroy(scene);
}

/* Of many functions of which hooks saw less than CUPTI, four are named. */
static void many_mismatches(void)
{
	static const char *const names[] = {"cuA", "cuB", "cuC", "cuD", "cuE", "cuF"};

	scene = scene_create(false);
	scene_watch(scene);
	put_steps(0);
	for (size_t i = 0; i < 60; i++)
		scene_unseen(scene, TFS_LIBRARY_cuda, TFS_FAMILY_other, names[i % 6], 99, false);
	scene_judge(scene, NULL);
	TEST_STR(scene_judgement(scene)->visibility.compared,
		"cuA: 0 calls seen by hooks, 10 by CUPTI; cuB: 0 calls seen by hooks, 10 by CUPTI; "
		"cuC: 0 calls seen by hooks, 10 by CUPTI; cuD: 0 calls seen by hooks, 10 by CUPTI; "
		"2 more functions");
	scene_destroy(scene);
}

/* What another tool leaves out may be what such a rule looks for. */
static void another_tools(bool imported)
{
	scene = scene_create(false);
	if (imported)
		builder_fact(scene_builder(scene), TFS_FACT_imported, "a tool", 0);
	put_steps(0);
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS902"),
		imported ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED);
	if (imported)
		TEST_STR(scene_reason(scene, "TFS902"),
			"the trace was recorded by another tool, which leaves calls out");
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_VIOLATED);
	scene_destroy(scene);
}

int main(void)
{
	a_device_without_a_name();
	steps_that_differ();
	more_than_is_told(true, 0, 0, false);
	more_than_is_told(false, 0, 0, true);
	more_than_is_told(false, 0, 5, true);
	more_than_is_told(true, 7, 5, false);
	more_than_is_told(true, 7, 0, true);
	work_without_calls(1, NULL);
	work_without_calls(3, "training steps found; 9.1 % of the GPU activity has no known call");
	libraries();
	linked_in(false);
	linked_in(true);
	many_mismatches();
	another_tools(false);
	another_tools(true);
	return test_result();
}
