/* SPDX-License-Identifier: MIT */
/* A host that has other work too: the report says so, and intervals hold what the fix gains where
 * the host is quiet. */
#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define KERNELS 40u

struct program {
	bool busy;
	bool waits; /* in the middle of the step */
};

static void launch(
	struct modelled *modelled, const struct program *program, unsigned line, unsigned number)
{
	if (program->busy && number % 53 == 0)
		modelled_interrupt(modelled, 150 * US);
	modelled_launch(modelled, line, 0, 15 * US, 432);
}

static struct modelled *run(const struct program *program, double *out_step_ns)
{
	struct modelled *modelled = modelled_create();
	unsigned number = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		modelled_step(modelled);
		modelled_host(modelled, (40 + i * 7 % 11) * US);
		for (unsigned j = 0; j < KERNELS; j++)
			launch(modelled, program, 10, ++number);
		if (program->waits)
			modelled_device_sync(modelled, 11);
		modelled_host(modelled, 200 * US);
		for (unsigned j = 0; j < KERNELS; j++)
			launch(modelled, program, 12, ++number);
		modelled_device_sync(modelled, 13);
	}
	*out_step_ns = modelled_judge(modelled);
	return modelled;
}

static double width(const struct tfs_finding *finding)
{
	return finding->cost.high_ns - finding->cost.low_ns;
}

int main(void)
{
	const struct program quiet = {.waits = true}, busy = {.waits = true, .busy = true};
	const struct program fixed = {.waits = false};
	double quiet_ns, busy_ns, fixed_ns;
	struct modelled *one, *other, *twin;
	const struct tfs_finding *calm, *rough;
	const struct tfs_step_summary *steps;

	modelled_prepare();
	one = run(&quiet, &quiet_ns);
	other = run(&busy, &busy_ns);
	twin = run(&fixed, &fixed_ns);
	steps = &scene_judgement(modelled_scene(other))->steps;
	calm = scene_finding(modelled_scene(one), "TFS201", 11);
	rough = scene_finding(modelled_scene(other), "TFS201", 11);
	TEST_NEED(calm && rough);
	TEST_EQ(scene_judgement(modelled_scene(one))->steps.host_load * 1e6, 0);
	/* 80 launches of 53 are 1.5 interruptions a step. */
	TEST_IN(steps->host_load * busy_ns, 200 * US, 240 * US);
	TEST_IN(width(rough), width(calm) + (double)(150 * US), busy_ns);
	TEST_IN(quiet_ns - fixed_ns, calm->cost.low_ns, calm->cost.high_ns);
	TEST_IN(quiet_ns - fixed_ns, rough->cost.low_ns, rough->cost.high_ns);
	modelled_destroy(one);
	modelled_destroy(other);
	modelled_destroy(twin);
	return test_result();
}
