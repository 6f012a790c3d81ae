/* SPDX-License-Identifier: MIT */
/* TFS709: training that waits while memory is copied out, every so many steps. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 40u
#define MORE 60u
#define MIB (UINT64_C(1) << 20)

struct pause {
	unsigned every; /* that many steps, */
	unsigned blocks;
	uint64_t bytes; /* of each */
	uint64_t copy_ns, step_ns;
	uint64_t more; /* such calls behind the window */
	enum tfs_state state;
	const char *says;
};

/* Steps of which only times are recorded, and how often their calls were made. */
static void go_on(struct scene *scene, const struct pause *pause)
{
	const uint64_t now = scene_now(scene);
	const struct builder_call of = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
	const struct tfs_aggregate sum = {
		.site = of.site, .function = of.function, .count = pause->more};
	float durations[MORE];

	for (unsigned i = 0; i < MORE; i++)
		durations[i] = (float)pause->step_ns;
	builder_window(scene_builder(scene), false, 1, now + 100, 3);
	builder_step(scene_builder(scene), STEPS + 1, now, TFS_PHASE_TRAINING, 0);
	builder_steps(scene_builder(scene), STEPS + 1, now, MORE, durations, 0);
	scene_host(scene, MORE * pause->step_ns);
	builder_thread(scene_builder(scene), 1);
	if (pause->more)
		builder_aggregate(scene_builder(scene), &sum);
	builder_thread(scene_builder(scene), 0);
}

static void check(const struct pause *pause)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 16 * MIB);
	const struct tfs_finding *finding;
	bool held;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 9, memory, memory, MIB, true, pause->step_ns);
		for (unsigned j = 0; j < pause->blocks && i % pause->every == pause->every / 2; j++)
			scene_copy(scene, 10, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED,
				memory + j * pause->bytes, pause->bytes, pause->copy_ns);
	}
	go_on(scene, pause);
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS709", 10);
	held = TEST_EQ(scene_state(scene, "TFS709"), pause->state);
	if (!TEST_STR(finding ? finding->message : scene_reason(scene, "TFS709"), pause->says) ||
		!held)
		scene_print(scene);
	if (finding) {
		TEST_STR(finding->evidence, "4 such pauses in 40 recorded steps");
		TEST_EQ(finding->level, TFS_LEVEL_WARN);
	}
	scene_destroy(scene);
}

int main(void)
{
	static const char none[] =
		"at no call site does the training thread wait for 1 % of the run or more for D2H copies made every few steps";
	static const struct pause pauses[] = {
		{10, 3, MIB, 300000, 100000, 0, TFS_STATE_VIOLATED,
			"training waits for 924 \xc2\xb5s while 3 blocks, 3.00 MiB in all, are copied from the device, 4 times: 28 % of the run"},
		{10, 3, MIB, 300000, 100000, 12, TFS_STATE_VIOLATED,
			"training waits for 924 \xc2\xb5s while 3 blocks, 3.00 MiB in all, are copied from the device, 8 times: 55 % of the run"},
		/* Too few bytes for a checkpoint, and too little of the run. */
		{10, 3, 16384, 300000, 100000, 0, TFS_STATE_PASSED, none},
		{10, 1, MIB, 9000, 300000, 0, TFS_STATE_PASSED, none},
	};

	for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++)
		check(&pauses[i]);
	return test_result();
}
