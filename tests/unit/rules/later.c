/* SPDX-License-Identifier: MIT */
/* What the judged steps do not show, and the totals of the run do. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define PACK 60u
#define PACKS 10u /* behind the window */
#define OTHERS (PACKS * PACK)
#define STEP_NS 150000u
#define RUN_NS (UINT64_C(1) * OTHERS * STEP_NS)

/* Calls that are made behind the window alone. */
struct habit {
	enum tfs_family family;
	const char *name;
	const char *rule;
	uint64_t count, ticks;
	unsigned steps; /* behind the window in which it is made */
	bool told;
};

static struct scene *scene;
static uint64_t memory, behind_ns;

static void put_others(void)
{
	float durations[PACK];

	behind_ns = scene_now(scene);
	for (unsigned i = 0; i < PACK; i++)
		durations[i] = STEP_NS;
	builder_window(scene_builder(scene), false, 1, behind_ns + 100, 3);
	builder_step(scene_builder(scene), STEPS + 1, behind_ns, TFS_PHASE_TRAINING, 0);
	for (unsigned i = 0; i < PACKS; i++)
		builder_steps(scene_builder(scene), STEPS + 1 + i * PACK,
			behind_ns + i * UINT64_C(1) * PACK * STEP_NS, PACK, durations, 0);
	scene_host(scene, RUN_NS);
}

static void put_total(
	unsigned line, enum tfs_family family, const char *name, struct tfs_aggregate sum)
{
	const struct builder_call call =
		scene_call(scene, line, 0, TFS_LIBRARY_cudart, family, name);

	sum.site = call.site;
	sum.function = call.function;
	builder_thread(scene_builder(scene), 1);
	builder_aggregate(scene_builder(scene), &sum);
	builder_thread(scene_builder(scene), 0);
}

/* Each recorded step copies and launches. */
static void begin(void)
{
	scene = scene_create(false);
	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(
			scene, 9, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory, 4096, 2000);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
	}
}

static bool names_line(const char *id, unsigned line)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const uint64_t *frames;

	for (size_t i = 0; i < judgement->rule_count; i++)
		if (!strcmp(judgement->rules[i].rule->id, id) &&
			tfs_trace_frames(judgement->timeline->trace,
				judgement->rules[i].verdict.site, &frames))
			return frames[0] == 0x401000 + line * 16;
	return false;
}

static void check(const struct habit *habit)
{
	char says[128];

	begin();
	put_others();
	put_total(12, habit->family, habit->name,
		(struct tfs_aggregate){.count = habit->count,
			.ticks = habit->ticks,
			.first_ticks = behind_ns + 1000,
			.latest_ticks = behind_ns + habit->steps * UINT64_C(1) * STEP_NS - 1000});
	/* As many as the recorded steps have: these are explained. */
	put_total(9, TFS_FAMILY_copy_async, "cudaMemcpyAsync",
		(struct tfs_aggregate){.count = OTHERS,
			.first_ticks = behind_ns + 1000,
			.latest_ticks = behind_ns + RUN_NS - 1000});
	scene_judge(scene, NULL);
	snprintf(says, sizeof(says),
		"%s was called %u times in the run; the judged steps account for 0 of these calls",
		habit->name, (unsigned)habit->count);
	if (!TEST_EQ(scene_state(scene, habit->rule),
		    habit->told ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED) ||
		(habit->told && !TEST_STR(scene_reason(scene, habit->rule), says)))
		printf("  %s, %u times: %s\n", habit->name, (unsigned)habit->count,
			scene_reason(scene, habit->rule));
	TEST_EQ(names_line(habit->rule, 12), habit->told);
	scene_destroy(scene);
}

/* Two waits of each recorded step, of which one is made in the others, too. */
static void two_waits(bool goes_on)
{
	scene = scene_create(false);
	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 2; j++) {
			scene_launch(scene, 10, SCENE_LEGACY, 35000, 1024, 1, &memory);
			scene_device_sync(scene, 11 + j);
			scene_host(scene, 30000);
		}
	}
	put_others();
	if (goes_on)
		put_total(12, TFS_FAMILY_device_sync, "cudaDeviceSynchronize",
			(struct tfs_aggregate){.count = OTHERS,
				.first_ticks = behind_ns + 1000,
				.latest_ticks = behind_ns + RUN_NS - 1000});
	scene_judge(scene, NULL);
}

/* What is left of the rule's findings stands; where none is, the verdict tells of one that went. */
static void one_of_two(void)
{
	const struct tfs_finding *finding;

	two_waits(false);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_NOT_MEASURABLE);
	TEST_TRUE(names_line("TFS201", 12));
	scene_destroy(scene);
	two_waits(true);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_VIOLATED);
	TEST_STR(scene_reason(scene, "TFS201"), "1 finding");
	TEST_TRUE(!scene_finding(scene, "TFS201", 11));
	TEST_TRUE(!names_line("TFS201", 11));
	finding = scene_finding(scene, "TFS201", 12);
	TEST_NEED(finding);
	TEST_IN(finding->cost.ns, 25000, 40000);
	TEST_EQ(finding->cost.method, TFS_COST_REPLAY);
	scene_destroy(scene);
}

int main(void)
{
	static const uint64_t long_ns = RUN_NS / 50;
	const struct habit habits[] = {
		{TFS_FAMILY_device_sync, "cudaDeviceSynchronize", "TFS201", 600, long_ns, OTHERS,
			true},
		/* How long the device takes for these is in no total. */
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync", "TFS101", 600, 0, OTHERS, true},
		{TFS_FAMILY_copy, "cudaMemcpy", "TFS101", 600, 0, OTHERS, false},
		{TFS_FAMILY_copy, "cudaMemcpy", "TFS101", 600, long_ns, OTHERS, true},
		/* Of its kind that is less than the twentieth call. */
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync", "TFS101", 33, 0, 200, false},
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync", "TFS101", 34, 0, 200, true},
	};

	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		check(&habits[i]);
	one_of_two();
	return test_result();
}
