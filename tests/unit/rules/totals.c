/* SPDX-License-Identifier: MIT */
/* Findings of the judged steps, held against the totals of the whole run. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define PACK 60u
#define PACKS 10u /* behind the window */
#define STEP_NS 150000u
#define LINES 20u

static void put_others(struct scene *scene)
{
	const uint64_t now = scene_now(scene);
	float durations[PACK];

	for (unsigned i = 0; i < PACK; i++)
		durations[i] = STEP_NS;
	builder_window(scene_builder(scene), false, 1, now + 100, 3);
	builder_step(scene_builder(scene), STEPS + 1, now, TFS_PHASE_TRAINING, 0);
	for (unsigned i = 0; i < PACKS; i++)
		builder_steps(scene_builder(scene), STEPS + 1 + i * PACK,
			now + i * UINT64_C(1) * PACK * STEP_NS, PACK, durations, 0);
	scene_host(scene, UINT64_C(1) * PACKS * PACK * STEP_NS);
}

/* A wait in each of 30 recorded steps, and `more` in the 600 behind them, of which only totals are
 * known. */
static struct scene *waits(uint64_t more)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	struct tfs_aggregate sum = {.count = more};
	struct builder_call call;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		scene_device_sync(scene, 11);
	}
	call = scene_call(
		scene, 11, 0, TFS_LIBRARY_cudart, TFS_FAMILY_device_sync, "cudaDeviceSynchronize");
	sum.site = call.site;
	sum.function = call.function;
	put_others(scene);
	if (more) {
		builder_thread(scene_builder(scene), 1);
		builder_aggregate(scene_builder(scene), &sum);
		builder_thread(scene_builder(scene), 0);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_judgement(scene)->steps.judged, STEPS);
	TEST_EQ(scene_judgement(scene)->steps.count, STEPS + PACKS * PACK);
	return scene;
}

static void stands(uint64_t more)
{
	struct scene *scene = waits(more);
	const struct tfs_finding *finding = scene_finding(scene, "TFS201", 11);

	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_VIOLATED);
	TEST_NEED(finding);
	TEST_EQ(finding->count_per_step, 1);
	TEST_EQ(finding->count_total, STEPS + more);
	scene_destroy(scene);
}

static void is_contradicted(uint64_t more, const char *says)
{
	struct scene *scene = waits(more);

	TEST_EQ(scene_findings(scene, "TFS201"), 0);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_NOT_MEASURABLE);
	if (!TEST_STR(scene_reason(scene, "TFS201"), says))
		scene_print(scene);
	scene_destroy(scene);
}

/* 20 calls of a step, each of a line of its own, before each of which the device is idle; and
 * `more` of each line behind the window. They update a parameter each, or are products. */
static struct scene *lines(bool updates, uint64_t more)
{
	struct scene *scene = scene_create(false);
	uint64_t memory[2 * LINES];
	struct builder_call call = {0};

	for (unsigned i = 0; i < 2 * LINES; i++)
		memory[i] = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < LINES; j++) {
			call = scene_call(scene, 20 + j, SCENE_LEGACY, TFS_LIBRARY_cublas,
				updates ? TFS_FAMILY_blas_pointwise : TFS_FAMILY_gemm,
				updates ? "cublasSaxpy_v2" : "cublasSgemm_v2");
			builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
				memory[LINES + j], 4096);
			builder_operand(&call,
				TFS_ROLE_WRITE | (updates ? TFS_ROLE_READ : 0) |
					TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
				memory[j], 4096);
			scene_make(scene, &call, 2000);
			scene_host(scene, 5000);
		}
	}
	put_others(scene);
	builder_thread(scene_builder(scene), 1);
	for (unsigned j = 0; j < LINES && more; j++) {
		const struct builder_call of = scene_call(scene, 20 + j, SCENE_LEGACY,
			TFS_LIBRARY_cublas, updates ? TFS_FAMILY_blas_pointwise : TFS_FAMILY_gemm,
			updates ? "cublasSaxpy_v2" : "cublasSgemm_v2");
		const struct tfs_aggregate sum = {
			.site = of.site, .function = of.function, .count = more};

		builder_aggregate(scene_builder(scene), &sum);
	}
	builder_thread(scene_builder(scene), 0);
	scene_judge(scene, NULL);
	return scene;
}

/* The total is that of all lines. */
static void of_many_lines(const char *id, bool updates, const char *says)
{
	struct scene *scene = lines(updates, PACKS * PACK);
	const struct tfs_finding *finding = scene_finding(scene, id, 0);

	if (!TEST_EQ(scene_state(scene, id), TFS_STATE_VIOLATED))
		scene_print(scene);
	TEST_NEED(finding);
	/* Nothing is updated before the first step. */
	TEST_IN(finding->count_per_step, updates ? LINES - 1 : LINES, LINES);
	TEST_EQ(finding->count_total, LINES * (STEPS + PACKS * PACK));
	TEST_STR(finding->message, says);
	scene_destroy(scene);
}

/* What the run contradicts explains none of the idle time, and is told of all lines. */
static void nothing_is_explained(void)
{
	struct scene *scene = lines(false, 0);

	TEST_EQ(scene_findings(scene, "TFS302"), 0);
	TEST_EQ(scene_state(scene, "TFS302"), TFS_STATE_NOT_MEASURABLE);
	TEST_STR(scene_reason(scene, "TFS302"),
		"cublasSgemm_v2, with other calls, was called 600 times in the 30 judged steps, but only 600 times in the 630 steps of the run");
	TEST_TRUE(scene_judgement(scene)->idle.ns > 0);
	TEST_EQ(scene_judgement(scene)->idle.explained_ns, 0);
	scene_destroy(scene);
}

/* A call that no judged step makes, `count` times in so many steps behind the window: where it
 * happens in the steps and takes a part of them, the judged ones are no evidence. */
static void habit(
	uint64_t count, uint64_t failures, uint64_t each_ns, unsigned steps, const char *says)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	struct tfs_aggregate sum = {.count = count, .failures = failures, .ticks = count * each_ns};
	struct builder_call call;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		scene_host(scene, 120000);
	}
	call = scene_call(scene, 40, 0, TFS_LIBRARY_cudart, TFS_FAMILY_free, "cudaFree");
	sum.site = call.site;
	sum.function = call.function;
	sum.first_ticks = scene_now(scene);
	put_others(scene);
	sum.latest_ticks = sum.first_ticks + steps * UINT64_C(1) * STEP_NS;
	builder_thread(scene_builder(scene), 1);
	builder_aggregate(scene_builder(scene), &sum);
	builder_thread(scene_builder(scene), 0);
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS401"),
		    says ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED))
		printf("  %llu calls: %s\n", (unsigned long long)count,
			scene_reason(scene, "TFS401"));
	if (says)
		TEST_STR(scene_reason(scene, "TFS401"), says);
	/* It is about memory. */
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_PASSED);
	scene_destroy(scene);
}

int main(void)
{
	/* In each step; in every seventh. */
	stands(600);
	stands(60);
	/* In none behind the window: 30 calls in 630 steps. In few: 60. */
	is_contradicted(0,
		"cudaDeviceSynchronize was called 30 times in the 30 judged steps, but only 30 times in the 630 steps of the run");
	is_contradicted(30,
		"cudaDeviceSynchronize was called 30 times in the 30 judged steps, but only 60 times in the 630 steps of the run");
	/* Kernels of 2 us, for each of which the host takes 8.5. */
	of_many_lines("TFS302", false,
		"the GPU is idle for 130 \xc2\xb5s per step (76 % of the step) until the host launches the next of 20 kernels, which take 2.00 \xc2\xb5s each; "
		"more of that time is before this call than before any other");
	of_many_lines("TFS303", true,
		"updates 20 parameters one by one, 2.00 \xc2\xb5s on average for each");
	nothing_is_explained();
	habit(600, 0, 10000, PACKS * PACK,
		"cudaFree was called 600 times in the run; the judged steps account for 0 of these calls");
	habit(600, 540, 20000, PACKS * PACK,
		"cudaFree was called 60 times in the run; the judged steps account for 0 of these calls");
	habit(61, 0, 20000, PACKS * PACK,
		"cudaFree was called 61 times in the run; the judged steps account for 0 of these calls");
	/* In hardly a step; for hardly any time; hardly ever with success. */
	habit(19, 0, 100000, 100, NULL);
	habit(20, 0, 1000000, 19, NULL);
	habit(59, 0, 20000, PACKS * PACK, NULL);
	habit(600, 0, 1000, PACKS * PACK, NULL);
	habit(600, 590, 90000, PACKS * PACK, NULL);
	return test_result();
}
