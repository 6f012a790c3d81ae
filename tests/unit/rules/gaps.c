/* SPDX-License-Identifier: MIT */
/* What the host did while the device was idle: how long it was in code of its own, whether it
 * waited, and what is too short to tell of. */
#include "rules/evidence/gaps.h"

#include <math.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define US UINT64_C(1000)
#define OWN (200 * US)
#define EVENT 0x51u

static uint64_t memory;

static void work(struct scene *scene, unsigned line, uint64_t ns)
{
	scene_gemm(scene, line, memory, memory, 4096, false, ns);
}

static struct builder_call call_at(
	struct scene *scene, unsigned line, enum tfs_family family, uint64_t ns)
{
	struct builder_call call = scene_call(scene, line, 0, TFS_LIBRARY_cudart, family,
		family == TFS_FAMILY_device_sync ? "cudaDeviceSynchronize" : "cudaGetDevice");

	call.stream = TFS_NO_STREAM;
	call.start_ns = scene_now(scene);
	call.duration_ns = ns;
	return call;
}

static void nothing(struct scene *scene)
{
	work(scene, 10, 20 * US);
	scene_host(scene, OWN);
}

static void waits_behind_work(struct scene *scene)
{
	work(scene, 10, 50 * US);
	scene_device_sync(scene, 12);
	scene_host(scene, OWN);
}

/* Work that was given since a wait is what the device has done last. */
static void works_behind_wait(struct scene *scene)
{
	scene_device_sync(scene, 12);
	work(scene, 10, 20 * US);
	scene_host(scene, OWN);
}

static void waits_for_nothing(struct scene *scene)
{
	work(scene, 10, 5 * US);
	scene_host(scene, 30 * US);
	scene_device_sync(scene, 12);
	scene_host(scene, OWN);
}

/* Whatever for, it is a wait. */
static void waits_meanwhile(struct scene *scene)
{
	work(scene, 10, 20 * US);
	scene_host(scene, 60 * US);
	const struct builder_call call = call_at(scene, 12, TFS_FAMILY_device_sync, 25 * US);

	builder_call(scene_builder(scene), &call);
	scene_host(scene, 26 * US + OWN);
}

/* For the first work, while the second one is still to be done. */
static void waits_before_the_end(struct scene *scene)
{
	work(scene, 10, 30 * US);
	scene_event_record(scene, 13, 0, EVENT);
	work(scene, 10, 100 * US);
	scene_event_sync(scene, 12, EVENT);
	scene_event_record(scene, 13, 0, EVENT);
	scene_host(scene, 90 * US + OWN);
}

/* Of another thread, which gives the device nothing. */
static void beside_another_thread(struct scene *scene)
{
	work(scene, 10, 20 * US);
	scene_host(scene, OWN / 2);
	const struct builder_call call = call_at(scene, 14, TFS_FAMILY_device_sync, 25 * US);

	builder_thread(scene_builder(scene), 1);
	builder_call(scene_builder(scene), &call);
	builder_thread(scene_builder(scene), 0);
	scene_host(scene, OWN / 2);
}

/* In steps that are not judged, calls are known by what they are. */
static void behind_evaluation(struct scene *scene, void (*wait)(struct scene *scene))
{
	work(scene, 10, 20 * US);
	scene_phase_step(scene, TFS_PHASE_EVALUATION, 0);
	work(scene, 15, 50 * US);
	if (wait)
		wait(scene);
	scene_step(scene);
	scene_host(scene, OWN);
}

static void wait_for_device(struct scene *scene)
{
	scene_device_sync(scene, 12);
}

static void wait_for_stream(struct scene *scene)
{
	scene_stream_sync(scene, 12, 0);
}

static void wait_for_event(struct scene *scene)
{
	scene_event_record(scene, 13, 0, EVENT);
	scene_event_sync(scene, 12, EVENT);
}

static void behind_nothing(struct scene *scene)
{
	behind_evaluation(scene, NULL);
}

static void behind_device(struct scene *scene)
{
	behind_evaluation(scene, wait_for_device);
}

static void behind_stream(struct scene *scene)
{
	behind_evaluation(scene, wait_for_stream);
}

static void behind_event(struct scene *scene)
{
	behind_evaluation(scene, wait_for_event);
}

static const struct scenario {
	void (*step)(struct scene *scene);
	unsigned before;    /* line behind which the stretch lies */
	uint64_t behind_ns; /* the device works for so long in it */
	bool waited;
} scenarios[] = {
	{nothing, 10, 20 * US, false},
	{waits_behind_work, 12, 0, true},
	{works_behind_wait, 10, 20 * US, false},
	{waits_for_nothing, 12, 0, false},
	{waits_meanwhile, 12, 0, true},
	{waits_before_the_end, 13, 90 * US, true},
	{beside_another_thread, 10, 20 * US, false},
	{behind_nothing, 15, 50 * US, false},
	{behind_device, 12, 0, true},
	{behind_stream, 12, 0, true},
	{behind_event, 12, 0, true},
};

static unsigned line_of(const struct tfs_timeline *timeline, uint32_t call)
{
	const uint64_t *frames;

	TEST_NEED(call != TFS_NONE);
	TEST_NEED(tfs_trace_frames(timeline->trace, timeline->calls[call].record->site, &frames));
	return (unsigned)(frames[0] - 0x401000) / 16;
}

static bool holds(
	const struct tfs_steady *steady, const struct scenario *scenario, const struct tfs_gap *gap)
{
	const uint64_t stretch = scenario->behind_ns > OWN / 4 ? scenario->behind_ns + OWN : OWN;
	bool held = TEST_EQ(line_of(steady->timeline, gap->before), scenario->before);

	held &= TEST_EQ(line_of(steady->timeline, gap->after), 11);
	held &= TEST_EQ(gap->waited, scenario->waited);
	held &= TEST_TRUE(gap->host_ns <= gap->idle_ns && gap->host_ns <= gap->stretch_ns);
	/* Behind what is left of the step before. */
	held &= TEST_IN(gap->stretch_ns - gap->host_ns, 0.8 * (double)scenario->behind_ns,
		2 * (double)scenario->behind_ns);
	held &= TEST_IN(gap->stretch_ns, (double)OWN, (double)(stretch + 2 * US));
	return held & TEST_TRUE(tfs_gap_own_code(steady, gap));
}

static void check(const struct scenario *scenario, int nth)
{
	struct scene *scene = scene_create(false);
	struct tfs_steady steady;
	struct tfs_gaps gaps;
	unsigned count = 0;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scenario->step(scene);
		work(scene, 11, 20 * US);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_EQ(tfs_gaps_find(&steady, &gaps), 0);
	for (size_t i = 0; i < gaps.count; i++) {
		if (line_of(steady.timeline, gaps.items[i].launch) != 11)
			continue;
		count++;
		if (count == STEPS / 2 && !holds(&steady, scenario, &gaps.items[i]))
			printf("  of scenario %d\n", nth);
	}
	TEST_IN(count, STEPS - 1, STEPS);
	tfs_gaps_finish(&gaps);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* Of one thread, and of no call that is short; idle time is that of each device that works. */
static void figures(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_steady steady;
	uint32_t one, other;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, 50 * US);
		const struct builder_call call =
			call_at(scene, 14, TFS_FAMILY_device_sync, 21 * US);

		builder_thread(scene_builder(scene), 1);
		builder_call(scene_builder(scene), &call);
		builder_thread(scene_builder(scene), 0);
		scene_device_sync(scene, 12);
		for (unsigned j = 0; j < 2; j++) {
			const struct builder_call wait =
				call_at(scene, 14, TFS_FAMILY_device_sync, (19 + j) * US);

			builder_call(scene_builder(scene), &wait);
			scene_host(scene, 30 * US);
		}
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	one = tfs_steady_call(&steady, 0)->thread;
	other = !one;
	TEST_EQ(tfs_gaps_waits_ns(&steady, other), 21 * US);
	TEST_IN(tfs_gaps_waits_ns(&steady, one), (double)(20 * US + 47 * US),
		(double)(20 * US + 53 * US));
	TEST_EQ(tfs_gaps_steps(&steady), STEPS);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

static void devices(void)
{
	struct scene *scene = scene_create(false);
	unsigned streams[2];
	struct tfs_steady steady;

	for (unsigned i = 0; i < 2; i++) {
		scene_device(scene, i);
		streams[i] = scene_stream(scene, 4);
	}
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 2; j++) {
			scene_device(scene, j);
			scene_launch(scene, 10, streams[j], 20 * US, 1024, 0, NULL);
		}
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_EQ(tfs_gaps_steps(&steady), 2 * STEPS);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* Between two launches a program does more the longer its step is, within bounds. */
static void launching(void)
{
	static const uint64_t steps[][2] = {
		{100 * US, 50 * US}, {2000 * US, 100 * US}, {100000 * US, 500 * US}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct tfs_steady steady = {.step_ns = (double)steps[i][0]};
		const double most = (double)steps[i][1];
		struct tfs_gap gap = {.before = 1, .host_ns = most, .idle_ns = 1.9 * most};

		TEST_EQ(lround(tfs_gaps_launching_ns(&steady)), steps[i][1]);
		TEST_TRUE(tfs_gap_own_code(&steady, &gap));
		gap.before = TFS_NONE;
		TEST_TRUE(!tfs_gap_own_code(&steady, &gap));
		gap.before = 1;
		gap.idle_ns = 2.1 * most;
		TEST_TRUE(!tfs_gap_own_code(&steady, &gap));
		gap.idle_ns = gap.host_ns = 0.99 * most;
		TEST_TRUE(!tfs_gap_own_code(&steady, &gap));
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(&scenarios[i], (int)i);
	figures();
	devices();
	launching();
	return test_result();
}
