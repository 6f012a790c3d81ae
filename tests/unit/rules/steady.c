/* SPDX-License-Identifier: MIT */
/* Which steps the rules judge by, and when device activity counts as seen. */
#include "rules/evidence/steady.h"

#include <math.h>

#include "tests/unit/rules/weights.h"

enum what { RARE_WORK, RARE_WORK_OFTEN, RARE_CALLBACK, RARE_COPY, OWN_PLACES };

static void call_back(struct scene *scene)
{
	struct builder_call call = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_host_func, "cudaLaunchHostFunc");

	scene_make(scene, &call, 0);
}

static void rare(struct scene *scene, enum what what)
{
	switch (what) {
	case RARE_WORK:
		work(scene, 12, SCENE_LEGACY, 50000);
		break;
	case RARE_WORK_OFTEN:
		for (unsigned i = 0; i < 4; i++)
			work(scene, 12, SCENE_LEGACY, 50000);
		break;
	case RARE_CALLBACK:
		call_back(scene);
		break;
	case RARE_COPY:
		scene_copy(scene, 12, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, weights, 4096,
			5000);
		scene_set(scene, 13, weights, 4096, 0);
		break;
	case OWN_PLACES:
		break;
	}
}

/* What few steps compute is another phase's, however often these do it; what they only copy or
 * are told is not, and where each step computes at a place of its own all of them are left. */
static void phases(enum what what, uint32_t judged)
{
	struct scene *scene = start();
	struct tfs_steady steady;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		if (what == OWN_PLACES)
			work(scene, 100 + i, SCENE_LEGACY, 50000);
		if (i % 6 == 5)
			rare(scene, what);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	if (!TEST_EQ(steady.step_count, judged))
		printf("  of %d\n", (int)what);
	TEST_EQ(steady.mixed_steps, STEPS - judged);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* Of many steps the last thousand. */
static void many(void)
{
	struct scene *scene = start();
	const struct tfs_timeline *timeline;
	struct tfs_steady steady;

	for (unsigned i = 0; i < 1010; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	TEST_EQ(timeline->judged_count, 1010);
	TEST_NEED(steady.step_count == 1000);
	TEST_EQ(timeline->steps[steady.steps[0]].index, 11);
	TEST_EQ(timeline->steps[steady.steps[999]].index, 1010);
	TEST_EQ(steady.call_count, 1000);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* Each step has two kernels, of which so many are tied to no call. */
static void ties(bool steps, unsigned lost_each, bool untied)
{
	struct scene *scene = start();
	struct builder *builder = scene_builder(scene);
	const uint32_t kernel = builder_kernel(builder, "lost");
	const struct tfs_timeline *timeline;
	struct tfs_steady steady;

	if (!steps)
		builder_window(builder, true, 1, scene_now(scene) - 100, 3);
	/* Before the first step, of which this says nothing. */
	for (unsigned i = 0; i < 100 && steps; i++)
		builder_device_op(builder, TFS_DEVICE_KERNEL, kernel, 7, 80000 + i,
			scene_now(scene) - 1000, scene_now(scene) - 500, 0);
	/* Too few to be a loop. */
	for (unsigned i = 0; i < (steps ? STEPS : 10); i++) {
		if (steps)
			scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 10000);
		scene_host(scene, 20000);
		for (unsigned j = 0; j < lost_each; j++) {
			builder_device_op(builder, TFS_DEVICE_KERNEL, kernel, 7, 90000 + i * 8 + j,
				scene_now(scene), scene_now(scene) + 5000, 0);
			scene_host(scene, 10000);
		}
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(timeline->step_source != 0, steps);
	TEST_EQ(steps ? tfs_steady_init(&steady, timeline, 0)
		      : tfs_steady_init_run(&steady, timeline),
		0);
	TEST_EQ(lround(steady.busy_ns), (steps ? 1 : 10) * (10000 + lost_each * 5000));
	if (!TEST_EQ(steady.untied, untied) || !TEST_EQ(steady.activity, !untied))
		printf("  of %u, with steps %d\n", lost_each, steps);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* How many steps are few is the user's to say. */
static void few(uint32_t least, uint32_t told)
{
	const struct tfs_judge_options options = {.min_steps = least};
	struct scene *scene = start();
	const struct tfs_finding *finding;
	struct tfs_steady steady;

	for (unsigned i = 0; i < 20; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		scene_device_sync(scene, 11);
		scene_host(scene, 50000);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, &options)->timeline, least), 0);
	TEST_EQ(steady.min_steps, told);
	finding = scene_finding(scene, "TFS201", 11);
	TEST_NEED(finding);
	TEST_EQ(finding->doubt != NULL, told > 20);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

int main(void)
{
	phases(RARE_WORK, 25);
	phases(RARE_WORK_OFTEN, 25);
	phases(RARE_CALLBACK, 30);
	phases(RARE_COPY, 30);
	phases(OWN_PLACES, 30);
	many();
	for (int steps = 0; steps < 2; steps++) {
		ties(steps, 0, false);
		ties(steps, 1, false);
		ties(steps, 2, true);
	}
	few(0, 20);
	few(21, 21);
	few(5, 5);
	return test_result();
}
