/* SPDX-License-Identifier: MIT */
/* Idle time of the GPU: every nanosecond is a finding's, or is printed with what was going on. */
#include "rules/judge/idle.h"

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 25u
#define WORK UINT64_C(50000)
#define OWN UINT64_C(400000)   /* of the host in each step, with at most two kernels queued */
#define SEEN (1 - 1.0 / STEPS) /* the last step's work lies behind the recording */

/* A kernel, a wait for it (a finding, or the GPU is idle only in the host's own code), own code. */
static struct scene *steps(bool waits)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		if (waits)
			scene_device_sync(scene, 11);
		scene_host(scene, OWN);
		scene_launch(scene, 12, SCENE_LEGACY, WORK, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	return scene;
}

static const struct tfs_idle_owner *owner(
	const struct scene *scene, enum tfs_idle_why why, unsigned line)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const uint64_t *frames;

	for (size_t i = 0; i < judgement->idle.count; i++) {
		const struct tfs_idle_owner *item = &judgement->idle.items[i];

		if (item->why == why && item->site &&
			tfs_trace_frames(judgement->timeline->trace, item->site, &frames) &&
			frames[0] == 0x401000 + line * 16)
			return item;
	}
	return NULL;
}

/* The queue runs dry in a call that a finding is about. */
static void of_a_finding(void)
{
	struct scene *scene = steps(true);
	const struct tfs_idle_summary *idle = &scene_judgement(scene)->idle;
	const struct tfs_idle_owner *wait = owner(scene, TFS_IDLE_DRAINED, 11);

	TEST_TRUE(scene_finding(scene, "TFS201", 11));
	TEST_NEED(wait);
	TEST_TRUE(wait->explained);
	TEST_IN(wait->ns, (double)OWN * SEEN, (double)OWN * 1.05);
	TEST_EQ(idle->explained_ns, wait->ns);
	scene_destroy(scene);
}

/* Nothing but the host's own code holds the step up: no rule says so, and the time is printed. */
static void of_nothing(void)
{
	struct scene *scene = steps(false);
	const struct tfs_idle_summary *idle = &scene_judgement(scene)->idle;
	const struct tfs_idle_owner *code = owner(scene, TFS_IDLE_HOST, 10);

	TEST_EQ(scene_judgement(scene)->finding_count, 0);
	TEST_NEED(code);
	TEST_TRUE(!code->explained);
	TEST_IN(code->ns, (double)(OWN - 2 * WORK) * SEEN, (double)(OWN - 2 * WORK) * 1.05);
	TEST_EQ(idle->explained_ns, 0);
	TEST_TRUE(idle->items == code); /* the largest comes first */
	scene_destroy(scene);
}

/* Idle time outside of judged steps is nobody's. */
static void of_no_step(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_host(scene, OWN);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_judgement(scene)->idle.count, 0);
	scene_destroy(scene);
}

int main(void)
{
	of_a_finding();
	of_nothing();
	of_no_step();
	return test_result();
}
