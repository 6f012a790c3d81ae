/* SPDX-License-Identifier: MIT */
/* Recording makes steps longer in places that are not known, between the calls: of what a fix saves
 * of a recorded step, so much of the program's own step is saved as is its own. */
#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define LAUNCHES 40u
#define OUTSIDE 50u

/* The host binds; a wait in the middle keeps it back by the device's work. */
static struct modelled *run(double *out_step_ns, double outside)
{
	struct modelled *modelled = modelled_create();
	struct builder *builder = scene_builder(modelled_scene(modelled));
	float durations[OUTSIDE];

	for (unsigned i = 0; i < STEPS; i++) {
		modelled_step(modelled);
		for (unsigned j = 0; j < LAUNCHES; j++) {
			modelled_host(modelled, (50 + i * 7 % 5) * US);
			modelled_launch(modelled, 10, 0, 15 * US, 432);
			if (j == LAUNCHES / 2)
				modelled_device_sync(modelled, 11);
		}
	}
	if (outside > 0) {
		for (unsigned i = 0; i < OUTSIDE; i++)
			durations[i] = (float)(outside + (double)(i % 3) * 10);
		modelled_step(modelled);
		builder_steps(builder, STEPS + 1, scene_now(modelled_scene(modelled)), OUTSIDE,
			durations, 0);
		modelled_host(modelled, (uint64_t)outside * (OUTSIDE + 1));
	}
	*out_step_ns = modelled_judge(modelled);
	return modelled;
}

static const struct tfs_finding *wait_of(struct modelled *modelled)
{
	const struct tfs_finding *finding = scene_finding(modelled_scene(modelled), "TFS201", 11);

	TEST_NEED(finding && finding->cost.method == TFS_COST_MODELLED);
	return finding;
}

int main(void)
{
	double step_ns, again_ns;
	struct modelled *alone, *longer;
	double cost_ns;

	modelled_prepare();
	alone = run(&step_ns, 0);
	cost_ns = wait_of(alone)->cost.ns;
	TEST_TRUE(cost_ns > 10 * (double)US);
	longer = run(&again_ns, step_ns / 2);
	TEST_IN(again_ns, 0.97 * step_ns, 1.03 * step_ns);
	TEST_IN(wait_of(longer)->cost.ns, 0.48 * cost_ns, 0.52 * cost_ns);
	/* All fixes together save more of a recorded step than the program's takes, and of that
	 * what the device leaves. */
	TEST_TRUE(scene_judgement(modelled_scene(alone))->open.ns > step_ns / 2);
	TEST_IN(scene_judgement(modelled_scene(longer))->open.ns,
		0.9 * (step_ns / 2 - LAUNCHES * 15.0 * US), step_ns / 2 - LAUNCHES * 15.0 * US);
	modelled_destroy(alone);
	modelled_destroy(longer);
	return test_result();
}
