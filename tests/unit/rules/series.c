/* SPDX-License-Identifier: MIT */
/* Calls of one place that could be one: what may lie between them, and what one takes for all. */
#include "rules/evidence/series.h"

#include <math.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define COPIES 3u
#define COPY_NS 2000u

enum between {
	NOTHING,
	HOST_CODE,
	A_QUESTION,
	A_LAUNCH,
	AN_UNSEEN_LAUNCH,
	UNKNOWN_WORK,
	A_WAIT,
	A_LAUNCH_ELSEWHERE,
	ANOTHER_THREAD
};

static uint64_t memory;

static void other_call(struct scene *scene, uint64_t work_ns)
{
	struct builder_call call = scene_call(
		scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_other, "cudaSomething");

	scene_make(scene, &call, work_ns);
}

static void put(struct scene *scene, enum between between)
{
	struct builder *builder = scene_builder(scene);

	switch (between) {
	case NOTHING:
	case ANOTHER_THREAD:
		break;
	case HOST_CODE:
		scene_host(scene, 50000);
		break;
	case A_QUESTION:
		other_call(scene, 0);
		break;
	case A_LAUNCH:
	case AN_UNSEEN_LAUNCH:
		scene_launch(
			scene, 11, SCENE_LEGACY, between == A_LAUNCH ? 5000 : 0, 1024, 1, &memory);
		break;
	case UNKNOWN_WORK:
		other_call(scene, 5000);
		break;
	case A_WAIT:
		scene_stream_sync(scene, 13, SCENE_LEGACY);
		break;
	case A_LAUNCH_ELSEWHERE:
		builder_thread(builder, 1);
		scene_launch(scene, 11, SCENE_LEGACY, 5000, 1024, 1, &memory);
		builder_thread(builder, 0);
		break;
	}
}

/* Copies of line 10, with something between the first two of a step. */
static void copy(struct scene *scene, enum between between)
{
	for (unsigned j = 0; j < COPIES; j++) {
		if (j == 1)
			put(scene, between);
		if (between == ANOTHER_THREAD && j)
			builder_thread(scene_builder(scene), 1);
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory, 256,
			COPY_NS);
		builder_thread(scene_builder(scene), 0);
	}
}

static void take(const struct tfs_steady *steady, struct tfs_hits *hits, struct tfs_place *place)
{
	for (uint32_t i = 0; i < steady->call_count; i++)
		if (tfs_steady_call(steady, i)->family == TFS_FAMILY_copy_async)
			tfs_hits_add(hits, steady->calls[i], 256, (struct tfs_edit){0});
	TEST_NEED(tfs_hits_next(steady, hits, place));
	TEST_EQ(place->count, COPIES * STEPS);
}

static void merges(const struct tfs_steady *steady, const struct tfs_series *series)
{
	struct tfs_hits edits = {0};

	TEST_EQ(lround(tfs_series_merged_ns(steady, series, 500)), 500 + COPIES * (COPY_NS - 500));
	/* None takes less than what any of them takes. */
	TEST_EQ(lround(tfs_series_merged_ns(steady, series, 9000)), 9000);
	tfs_series_merge(steady, series, 1, 3 * COPY_NS, &edits);
	TEST_NEED(edits.count == COPIES);
	for (size_t i = 0; i < COPIES; i++) {
		TEST_EQ(edits.items[i].call, series->items[i].call);
		TEST_EQ(edits.items[i].edit.gone, i != 1);
		TEST_EQ(lround(10 * (double)edits.items[i].edit.scale), i == 1 ? 30 : 0);
	}
	tfs_hits_finish(&edits);
}

static void check(enum between between, size_t first)
{
	struct scene *scene = scene_create(false);
	struct tfs_place place = {0};
	struct tfs_hits hits = {0};
	struct tfs_steady steady;
	struct tfs_series series;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		copy(scene, between);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	take(&steady, &hits, &place);
	series = tfs_series_at(&steady, &place, 0);
	if (!TEST_EQ(series.count, first))
		printf("  with %d between\n", (int)between);
	series = tfs_series_at(&steady, &place, first);
	TEST_EQ(series.count, first < COPIES ? COPIES - first : COPIES);
	series = tfs_series_step(&steady, &place, 0);
	TEST_EQ(series.count, COPIES);
	TEST_TRUE(series.items == place.items);
	TEST_EQ(tfs_series_step(&steady, &place, COPIES + 1).count, COPIES - 1);
	merges(&steady, &series);
	tfs_hits_finish(&hits);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

int main(void)
{
	check(NOTHING, COPIES);
	check(HOST_CODE, COPIES);
	check(A_QUESTION, COPIES);
	check(A_LAUNCH, 1);
	check(AN_UNSEEN_LAUNCH, 1);
	check(UNKNOWN_WORK, 1);
	check(A_WAIT, 1);
	check(A_LAUNCH_ELSEWHERE, COPIES);
	check(ANOTHER_THREAD, 1);
	return test_result();
}
