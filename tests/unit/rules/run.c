/* SPDX-License-Identifier: MIT */
/* Rules about the training step on a recording whose steps are not known. */
#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define ROUNDS 15u /* fewer than make a loop whose iterations are judged instead */
#define LARGE (1u << 20)

static struct scene *begin(bool opens)
{
	struct scene *scene = scene_create(false);

	if (opens)
		builder_window(scene_builder(scene), true, 1, scene_now(scene) - 100, 3);
	return scene;
}

static void expect(
	const struct scene *scene, const char *id, enum tfs_state state, const char *says)
{
	if (!TEST_EQ(scene_state(scene, id), state) ||
		!TEST_TRUE(strstr(scene_reason(scene, id), says)))
		printf("  %s: %s\n", id, scene_reason(scene, id));
}

/* A pageable copy, which is one wherever it is; and the advice for steps alone is given as such. */
static void a_copy_is_one(void)
{
	struct scene *scene = begin(true);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, LARGE);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < ROUNDS; i++) {
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PAGEABLE, memory, LARGE,
			50000);
		scene_launch(scene, 11, SCENE_LEGACY, 90000, 1024, 1, &memory);
		scene_host(scene, 100000);
	}
	scene_judge(scene, NULL);
	TEST_TRUE(!scene_judgement(scene)->usable);
	expect(scene, "TFS101", TFS_STATE_VIOLATED, "1 finding");
	finding = scene_finding(scene, "TFS101", 10);
	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_NOTE);
	TEST_EQ(finding->count_per_step, ROUNDS);
	TEST_EQ(finding->bytes_per_step, ROUNDS * (double)LARGE);
	TEST_STR(finding->evidence, "15 calls in the recorded run");
	TEST_TRUE(strstr(finding->message, "copies 15.0 MiB in the recorded run to the device"));
	TEST_TRUE(!strncmp(finding->advice, "If this is copied in each step: ", 32));
	/* At most what the calls and their work take. */
	TEST_EQ(finding->cost.method, TFS_COST_BOUND);
	TEST_EQ(finding->cost.low_ns, 0);
	TEST_EQ(finding->cost.high_ns, finding->time_per_step_ns + ROUNDS * 50000.0);
	expect(scene, "TFS910", TFS_STATE_PASSED, "no call of the run fails");
	scene_destroy(scene);
}

/* Copies that are a small part of the run may be a large one of a step. */
static void a_small_copy_is_open(void)
{
	struct scene *scene = begin(true);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, LARGE);

	scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PAGEABLE, memory, LARGE, 50000);
	scene_host(scene, 60000000);
	scene_launch(scene, 11, SCENE_LEGACY, 90000, 1024, 1, &memory);
	scene_judge(scene, NULL);
	expect(scene, "TFS101", TFS_STATE_NOT_MEASURABLE, "pageable copies at 1 call site take");
	scene_destroy(scene);
}

/* What is bad in a step is right before the first one: nothing is said to be broken. */
static void a_start_is_no_step(void)
{
	struct scene *scene = begin(true);
	uint64_t memory = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		memory = UINT64_C(0x7e0000000000) + i * UINT64_C(0x100000);
		scene_malloc(scene, 20, memory, 4096);
		scene_launch(scene, 21, SCENE_LEGACY, 90000, 1024, 1, &memory);
	}
	scene_device_sync(scene, 22);
	scene_judge(scene, NULL);
	TEST_EQ(scene_findings(scene, "TFS401"), 0);
	expect(scene, "TFS401", TFS_STATE_NOT_MEASURABLE,
		"no training steps were found: it is not known whether 15 calls at 1 call site (");
	TEST_EQ(scene_findings(scene, "TFS201"), 0);
	expect(scene, "TFS201", TFS_STATE_NOT_MEASURABLE, "whether 1 call at 1 call site (");
	expect(scene, "TFS202", TFS_STATE_PASSED, "no call has a hidden synchronisation");
	scene_destroy(scene);
}

/* A run of which no call was recorded: its totals tell of failures alone. */
static void counted_only(uint64_t failures, enum tfs_state state, const char *says)
{
	struct scene *scene = begin(false);
	struct builder *builder = scene_builder(scene);
	const uint64_t frames[] = {0x401000, 0x402000};
	const struct tfs_aggregate sum = {.function = builder_function(builder, TFS_LIBRARY_cudart,
						  TFS_FAMILY_copy, "cudaMemcpy"),
		.site = builder_site(builder, 2, frames),
		.count = 100,
		.failures = failures,
		.ticks = 5000,
		.first_ticks = 2000,
		.latest_ticks = 90000};

	builder_aggregate(builder, &sum);
	scene_judge(scene, NULL);
	expect(scene, "TFS101", TFS_STATE_NOT_MEASURABLE, "outside of steps are only counted");
	expect(scene, "TFS910", state, says);
	scene_destroy(scene);
}

/* Calls that were not all recorded: what is not among those that were may be among the others. */
static void recorded_in_part(void)
{
	struct scene *scene = begin(true);
	const uint64_t memory = UINT64_C(0x7e0000000000);
	struct builder *builder = scene_builder(scene);
	const uint64_t frames[] = {0x409000, 0x402000};
	const struct tfs_aggregate sum = {.function = builder_function(builder, TFS_LIBRARY_cudart,
						  TFS_FAMILY_device_sync, "cudaDeviceReset"),
		.site = builder_site(builder, 2, frames),
		.count = 7};

	scene_launch(scene, 11, SCENE_LEGACY, 90000, 1024, 1, &memory);
	builder_aggregate(builder, &sum);
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_NOT_MEASURABLE,
		"cudaDeviceReset was called 7 times in the run, of which 0 were recorded");
	expect(scene, "TFS101", TFS_STATE_PASSED, "no large pageable copies");
	expect(scene, "TFS401", TFS_STATE_PASSED, "is allocated or freed in the recorded run");
	scene_destroy(scene);
}

/* Calls that are only counted, wherever they are made, leave nothing unseen. */
static void counted_aside(void)
{
	struct scene *scene = begin(true);
	const uint64_t memory = UINT64_C(0x7e0000000000);
	struct builder *builder = scene_builder(scene);
	const struct tfs_aggregate sum = {.function = builder_function(builder, TFS_LIBRARY_cudart,
						  TFS_FAMILY_other, "cudaGetDevice"),
		.count = 70000};

	scene_launch(scene, 11, SCENE_LEGACY, 90000, 1024, 1, &memory);
	builder_aggregate(builder, &sum);
	scene_judge(scene, NULL);
	expect(scene, "TFS101", TFS_STATE_PASSED, "no large pageable copies");
	expect(scene, "TFS201", TFS_STATE_PASSED, "");
	scene_destroy(scene);
}

int main(void)
{
	a_copy_is_one();
	a_small_copy_is_open();
	a_start_is_no_step();
	counted_only(0, TFS_STATE_PASSED, "no call of the run fails");
	counted_only(3, TFS_STATE_NOT_MEASURABLE,
		"cudaMemcpy failed 3 times in the run, but its status was not recorded");
	recorded_in_part();
	counted_aside();
	return test_result();
}
