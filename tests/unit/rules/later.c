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

/* A run with phases behind the window: each comes behind so many steps, and all are 20 ms. */
struct phases {
	enum tfs_phase phase;
	unsigned single; /* at first, each behind one step; ... */
	bool places;     /* ... by turns at two places, or at one */
	unsigned each;   /* then behind so many steps each; */
	unsigned count;
	unsigned between; /* but first so many steps without one */
};

/* A wait that only these phases have, 300 times. */
struct waits {
	uint64_t first_ns, latest_ns; /* 0: in the first phase, in the last one */
	uint64_t ticks;
	bool told;
};

#define MOST_PHASES 120u
#define PHASES_NS UINT64_C(20000000)

static uint64_t phase_ns[MOST_PHASES]; /* their starts */
static unsigned phase_count;
static uint64_t last_ns; /* start of the last training step */

static void put_mark(uint64_t index, uint64_t ns, enum tfs_phase phase, uint32_t site)
{
	const struct tfs_step_record mark = {.phase = (uint16_t)phase,
		.site = site,
		.start_ticks = ns,
		.index = index,
		.source = TFS_STEP_LOOPS};

	builder_record(scene_builder(scene), TFS_RECORD_step, &mark, sizeof(mark));
}

/* Steps that begin at a moment; where they end. The first of all is known from its pack alone. */
static uint64_t put_pack(uint64_t *index, uint64_t ns, unsigned count)
{
	float durations[PACK];

	for (unsigned i = 0; i < count; i++)
		durations[i] = STEP_NS;
	put_mark(*index, ns, TFS_PHASE_TRAINING, ns == behind_ns ? 0 : 1);
	builder_steps(scene_builder(scene), *index, ns, count, durations, 0);
	*index += count;
	last_ns = ns + (count - 1) * UINT64_C(1) * STEP_NS;
	return last_ns + STEP_NS;
}

static void put_phases(const struct phases *phases)
{
	const unsigned all = phases->single + phases->count;
	uint64_t index = STEPS + 1, ns = behind_ns = scene_now(scene);

	builder_window(scene_builder(scene), false, 1, behind_ns + 100, 3);
	for (phase_count = 0; phase_count < all; phase_count++) {
		const bool single = phase_count < phases->single;

		for (unsigned i = 0; phase_count == phases->single && i < phases->between;
			i += PACK)
			ns = put_pack(&index, ns, PACK);
		ns = put_pack(&index, ns, single ? 1 : phases->each);
		put_mark(index - 1, ns, phases->phase,
			single && phases->places && phase_count % 2 ? 3 : 2);
		phase_ns[phase_count] = ns;
		ns += PHASES_NS / all;
	}
	scene_host(scene, ns - behind_ns);
}

static void in_phases(const struct phases *phases, const struct waits *waits)
{
	struct tfs_aggregate sum = {.count = 300, .ticks = waits->ticks};

	begin();
	put_phases(phases);
	sum.first_ticks = waits->first_ns ? waits->first_ns : phase_ns[0] + 1000;
	sum.latest_ticks = waits->latest_ns ? waits->latest_ns : phase_ns[phase_count - 1] + 1000;
	put_total(12, TFS_FAMILY_device_sync, "cudaDeviceSynchronize", sum);
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS201"),
		    waits->told ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED))
		printf("  %u phases, %.1f ms from %.1f to %.1f ms: %s\n", phase_count,
			(double)waits->ticks / 1e6, (double)sum.first_ticks / 1e6,
			(double)sum.latest_ticks / 1e6, scene_reason(scene, "TFS201"));
	scene_destroy(scene);
}

/* Calls of evaluations explain themselves, as far as these last, and are made in nothing else. */
static void evaluations(void)
{
	const struct phases usual = {.phase = TFS_PHASE_EVALUATION, .each = PACK, .count = PACKS};
	const struct phases other = {.phase = TFS_PHASE_OTHER, .each = PACK, .count = PACKS};
	const struct waits in_all[] = {
		{.ticks = 19900000},
		/* Behind the last step there is no more than this phase. */
		{.ticks = 20150000},
		{.ticks = 20160000, .told = true},
	};

	for (size_t i = 0; i < sizeof(in_all) / sizeof(*in_all); i++) {
		in_phases(&usual, &in_all[i]);
		in_phases(&other, &in_all[i]);
	}
	/* As long as those last in which it is made: four of ten. */
	in_phases(&usual, &(struct waits){.first_ns = phase_ns[3] + 1000,
				  .latest_ns = phase_ns[6] + 1000,
				  .ticks = 7900000});
	in_phases(&usual, &(struct waits){.first_ns = phase_ns[3] + 1000,
				  .latest_ns = phase_ns[6] + 1000,
				  .ticks = 8100000,
				  .told = true});
	/* In a training step first, or last. */
	in_phases(&usual,
		&(struct waits){.first_ns = behind_ns + 1000, .ticks = 9000000, .told = true});
	in_phases(&usual,
		&(struct waits){.latest_ns = last_ns - 1000, .ticks = 9000000, .told = true});
	/* Before the first step: one phase more. */
	in_phases(&usual, &(struct waits){.first_ns = 1000, .ticks = 21900000});
	in_phases(&usual, &(struct waits){.first_ns = 1000, .ticks = 22200000, .told = true});
	in_phases(&usual, &(struct waits){.first_ns = 1000,
				  .latest_ns = last_ns + 1000,
				  .ticks = 9000000,
				  .told = true});
}

/* What comes back behind few steps, or behind each of several, is a part of the step. */
static void parts_of_steps(void)
{
	const struct phases often = {
		.phase = TFS_PHASE_EVALUATION, .each = 7, .count = MOST_PHASES};
	const struct phases seldom = {
		.phase = TFS_PHASE_EVALUATION, .each = 8, .count = MOST_PHASES};
	struct phases in_a_row = {.phase = TFS_PHASE_EVALUATION,
		.single = 8,
		.each = PACK,
		.count = 2,
		.between = 5 * PACK};
	const struct waits waits = {.ticks = 9000000}, told = {.ticks = 9000000, .told = true};

	in_phases(&often, &told);
	in_phases(&seldom, &waits);
	in_phases(&in_a_row, &told);
	in_a_row.single = 7;
	in_phases(&in_a_row, &waits);
	in_a_row.single = 8;
	in_a_row.places = true;
	in_phases(&in_a_row, &waits);
}

/* Calls that fail in the judged steps account for none that work. */
static void failures(void)
{
	scene = scene_create(false);
	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call wait = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_device_sync, "cudaDeviceSynchronize");

		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		wait.status = 7;
		scene_make(scene, &wait, 0);
	}
	put_others();
	put_total(12, TFS_FAMILY_device_sync, "cudaDeviceSynchronize",
		(struct tfs_aggregate){.count = OTHERS,
			.failures = STEPS,
			.ticks = RUN_NS / 50,
			.first_ticks = behind_ns + 1000,
			.latest_ticks = behind_ns + RUN_NS - 1000});
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS201"), TFS_STATE_NOT_MEASURABLE);
	TEST_STR(scene_reason(scene, "TFS201"),
		"cudaDeviceSynchronize was called 600 times in the run; the judged steps account for 0 of these calls");
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
		{TFS_FAMILY_set_async, "cudaMemsetAsync", "TFS204", 600, 0, OTHERS, true},
		{TFS_FAMILY_set, "cudaMemset", "TFS204", 600, 0, OTHERS, true},
		{TFS_FAMILY_launch, "cudaLaunchKernel", "TFS303", 600, 0, OTHERS, true},
		{TFS_FAMILY_copy, "cudaMemcpy", "TFS101", 600, 0, OTHERS, false},
		{TFS_FAMILY_copy, "cudaMemcpy", "TFS101", 600, long_ns, OTHERS, true},
		/* Of its kind that is less than the twentieth call. */
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync", "TFS101", 33, 0, 200, false},
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync", "TFS101", 34, 0, 200, true},
	};

	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		check(&habits[i]);
	one_of_two();
	failures();
	evaluations();
	parts_of_steps();
	return test_result();
}
