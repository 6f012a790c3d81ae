/* SPDX-License-Identifier: MIT */
/* A host that runs ahead of the device: its steps are the device's. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define KERNEL_NS 400000u

/* Launches a kernel in each step, and waits for it in every so many (0 = never). */
static struct scene *run(unsigned waits, unsigned steps)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	for (unsigned i = 0; i < steps; i++) {
		scene_step(scene);
		scene_launch(scene, 11, SCENE_LEGACY, KERNEL_NS, 1024, 1, &memory);
		if (waits && i % waits == 0)
			scene_device_sync(scene, 12);
		scene_host(scene, 20000);
	}
	scene_phase_step(scene, TFS_PHASE_OTHER, 0);
	scene_device_sync(scene, 13);
	scene_judge(scene, NULL);
	return scene;
}

static void steps_are_the_devices(void)
{
	struct scene *scene = run(0, STEPS);
	const struct tfs_step_summary *steps = &scene_judgement(scene)->steps;

	TEST_TRUE(steps->ahead);
	TEST_IN(steps->written_ns, KERNEL_NS, KERNEL_NS * 1.01);
	TEST_IN(steps->judged_median_ns, KERNEL_NS, KERNEL_NS * 1.01);
	TEST_IN(steps->median_ns, KERNEL_NS, KERNEL_NS * 1.01);
	TEST_IN(steps->spread_ns, 0, KERNEL_NS * 0.01);
	TEST_IN(steps->ahead_busy, 0.99, 1);
	TEST_TRUE(!steps->unpriced);
	TEST_EQ(scene_judgement(scene)->idle.count, 0);
	scene_destroy(scene);
}

/* Behind a wait in each step, or in every third, the host is never a step ahead for long. */
static void a_host_that_waits_is_not_ahead(void)
{
	for (unsigned waits = 1; waits <= 3; waits += 2) {
		struct scene *scene = run(waits, STEPS);
		const struct tfs_step_summary *steps = &scene_judgement(scene)->steps;

		TEST_TRUE(!steps->ahead);
		TEST_IN(steps->written_ns, KERNEL_NS, KERNEL_NS * 1.2);
		scene_destroy(scene);
	}
}

/* Five steps behind another one are evidence enough. */
static void few_steps_say_little(void)
{
	for (unsigned steps = 5; steps <= 6; steps++) {
		struct scene *scene = run(0, steps);

		TEST_EQ(scene_judgement(scene)->steps.ahead, steps == 6);
		scene_destroy(scene);
	}
}

int main(void)
{
	steps_are_the_devices();
	a_host_that_waits_is_not_ahead();
	few_steps_say_little();
	return test_result();
}
