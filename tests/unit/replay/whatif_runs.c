/* SPDX-License-Identifier: MIT */
/* What prices start from: several runs of steps, each with its own times, less what recording adds
 * to them where that is known. */
#include <math.h>

#include "rules/whatif/whatif_private.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 15u /* of a run */
#define LAUNCHES 40u
#define US UINT64_C(1000)

static struct scene *scene;
static struct tfs_steady steady;
static struct tfs_whatif *whatif;

static void judge(void)
{
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	whatif = steady.whatif = tfs_whatif_create(&steady);
	TEST_NEED(whatif && !whatif->doubt);
}

static void end(void)
{
	tfs_whatif_destroy(whatif);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* What this edit saves at each launch. */
static struct tfs_cost of_launches(struct tfs_edit edit)
{
	struct tfs_cost cost;

	for (uint32_t i = 0; i < steady.call_count; i++) {
		const struct tfs_hit hit = {.call = steady.calls[i], .edit = edit};

		if (tfs_steady_call(&steady, i)->family == TFS_FAMILY_launch)
			tfs_whatif_add(whatif, &hit, 1);
	}
	TEST_EQ(tfs_whatif_price(whatif, &cost), 0);
	return cost;
}

/* Steps of 100 us of the device, then, behind an evaluation, of 200 us. */
static void two_runs(void)
{
	uint64_t memory;

	scene = scene_create(false);
	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned run = 1; run <= 2; run++) {
		for (unsigned i = 0; i < STEPS; i++) {
			scene_step(scene);
			scene_launch(scene, 10, SCENE_LEGACY, run * 100 * US, 1024, 1, &memory);
			scene_device_sync(scene, 11);
			scene_host(scene, 50 * US);
		}
		scene_phase_step(scene, TFS_PHASE_EVALUATION, 0);
		scene_host(scene, 10 * US);
	}
	judge();
	TEST_EQ(whatif->run_count, 2);
	/* The first step of a run is no evidence. */
	TEST_EQ(whatif->step_count, 2 * (STEPS - 1));
	TEST_IN(whatif->error, 0, 0.001);
	TEST_IN(of_launches((struct tfs_edit){.scale = 0.75f}).ns, 37400, 37600);
	end();
	TEST_EQ(tfs_whatif_first(&(struct tfs_run){.steps = 2}), 0);
	TEST_EQ(tfs_whatif_first(&(struct tfs_run){.steps = 3}), 1);
}

/* The host launches many kernels, to which it is bound, and steps outside the window, if any, are
 * so long. */
static void launches(unsigned outside, double part, uint32_t flags)
{
	float durations[LAUNCHES];
	uint64_t memory, start_ns;

	scene = scene_create(false);
	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	start_ns = scene_now(scene);
	for (unsigned i = 0; i < 2 * STEPS; i++) {
		scene_phase_step(scene, TFS_PHASE_TRAINING, flags);
		for (unsigned j = 0; j < LAUNCHES; j++)
			scene_launch(scene, 10, SCENE_LEGACY, US / 2, 1024, 1, &memory);
	}
	if (outside) {
		const double step_ns = (double)(scene_now(scene) - start_ns) / (2 * STEPS);

		for (unsigned i = 0; i < outside; i++)
			durations[i] = (float)(part * step_ns);
		builder_step(scene_builder(scene), 2 * STEPS + 1, scene_now(scene),
			TFS_PHASE_TRAINING, 2);
		builder_window(scene_builder(scene), false, 1, scene_now(scene) + 1, 3);
		builder_steps(scene_builder(scene), 2 * STEPS + 1, scene_now(scene), outside,
			durations, 0);
		scene_host(scene, 100 * US * outside);
	}
	judge();
}

/* Recording lengthens the calls: they are as short as the steps outside windows have them. */
static void recording_is_taken_out(void)
{
	launches(20, 0.8, 0);
	TEST_IN(whatif->inflation, 0.24, 0.26);
	TEST_EQ(whatif->own, 1);
	TEST_IN(whatif->base_ns, 0.799 * whatif->written_ns, 0.801 * whatif->written_ns);
	TEST_IN(tfs_whatif_step_ns(&steady), 0.799 * steady.step_ns, 0.801 * steady.step_ns);
	end();
}

static void recording_is_left_in(unsigned outside, double part, uint32_t flags)
{
	launches(outside, part, flags);
	TEST_EQ(whatif->inflation, 0);
	TEST_EQ(whatif->base_ns, whatif->written_ns);
	TEST_EQ(tfs_whatif_step_ns(&steady), steady.step_ns);
	end();
}

/* Launches that take the host no time: each is a change of its own, about which there is doubt. */
static void launches_at_once(void)
{
	struct tfs_cost cost;

	launches(0, 0, 0);
	whatif->error = whatif->load_ns = 0;
	cost = of_launches((struct tfs_edit){.at_once = true});
	TEST_IN(cost.ns, 70000, 110000);
	TEST_IN(cost.ns - cost.low_ns, 0.05 * cost.ns + 1000 * sqrt(LAUNCHES) - 200,
		0.05 * cost.ns + 1000 * sqrt(LAUNCHES) + 200);
	end();
}

int main(void)
{
	two_runs();
	recording_is_taken_out();
	/* Of too few steps, by hardly anything, or with a rewrite in those that are judged. */
	recording_is_left_in(9, 0.8, 0);
	recording_is_left_in(20, 0.98, 0);
	recording_is_left_in(20, 0.8, 1);
	launches_at_once();
	return test_result();
}
