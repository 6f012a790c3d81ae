/* SPDX-License-Identifier: MIT */
/* TFS201, TFS202, TFS203: waits of all kinds, and their groups. */
#include "tests/unit/rules/weights.h"

static void read_loss(struct scene *scene, unsigned line, bool async, enum tfs_memory_kind host)
{
	scene_copy(scene, line, SCENE_LEGACY, async, false, host, weights, 4, 2000);
}

static void a_sync_each_step(void)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		work(scene, 11, SCENE_LEGACY, 50000);
		scene_device_sync(scene, 12);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 1);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	finding = scene_finding(scene, "TFS201", 12);
	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_ERROR);
	TEST_STR(finding->message, "blocks until the device is done, 1 call/step; "
				   "the device has little work left when the call returns");
	TEST_IN(finding->cost.ns, 20000, 32000);
	TEST_EQ(finding->group, 0);
	scene_destroy(scene);
}

/* Either of two waits in a row alone would save nothing: they share one cost. */
static void two_syncs_share_a_cost(void)
{
	struct scene *scene = start();
	const struct tfs_judgement *judgement;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		scene_stream_sync(scene, 11, SCENE_LEGACY);
		scene_device_sync(scene, 12);
		scene_host(scene, 20000);
	}
	judgement = scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 2);
	TEST_EQ(judgement->group_count, 1);
	TEST_EQ(judgement->groups[0].findings, 2);
	TEST_NEED(judgement->finding_count >= 2);
	TEST_EQ(judgement->findings[0].group, 1);
	TEST_EQ(judgement->findings[1].group, 1);
	TEST_EQ(judgement->findings[0].cost.ns, judgement->findings[1].cost.ns);
	TEST_IN(judgement->findings[0].cost.ns, 20000, 32000);
	TEST_EQ(judgement->joint_findings, 1);
	TEST_EQ(judgement->joint.ns, judgement->findings[0].cost.ns);
	scene_destroy(scene);
}

/* A pipeline that waits for the upload of two steps ago leaves the device busy. */
static void throttling_passes(void)
{
	struct scene *scene = start();
	unsigned copies = scene_stream(scene, 4);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (i >= 2)
			scene_event_sync(scene, 10, 100 + i % 2);
		scene_copy(
			scene, 11, copies, true, true, TFS_MEMORY_PINNED, weights, 1 << 20, 90000);
		scene_event_record(scene, 12, copies, 100 + i % 2);
		work(scene, 13, SCENE_LEGACY, 100000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* An event that was reached long ago is no wait, also when another wait drained the device. */
static void a_reached_event_passes(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (i)
			scene_event_sync(scene, 10, 100);
		scene_copy(scene, 11, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, weights, 1 << 20,
			30000);
		scene_event_record(scene, 12, SCENE_LEGACY, 100);
		work(scene, 13, SCENE_LEGACY, 100000);
		scene_device_sync(scene, 14);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 1);
	TEST_TRUE(scene_finding(scene, "TFS201", 14));
	scene_destroy(scene);
}

static void rare_syncs_pass(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		if (i % 10 == 9) {
			scene_device_sync(scene, 11);
			read_loss(scene, 12, false, TFS_MEMORY_PAGEABLE);
		}
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* Where most steps are timed by a wait, the advice is another. It is to go from the source only
 * where none is. */
static void timings_keep_the_call(unsigned every, enum tfs_level level, bool removes)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call elapsed;

		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		scene_event_record(scene, 11, SCENE_LEGACY, 100);
		scene_event_sync(scene, 12, 100);
		if ((i + 1) % every)
			continue;
		elapsed = scene_call(scene, 13, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_elapsed, "cudaEventElapsedTime");
		scene_make(scene, &elapsed, 0);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 1);
	TEST_EQ(scene_finding(scene, "TFS201", 12)->level, level);
	TEST_EQ(scene_finding(scene, "TFS201", 12)->removes, removes);
	scene_destroy(scene);
}

/* A blocking read-back is 202 and 203, and 101 where it goes to pageable memory, in one group. */
static void a_loss_each_step(enum tfs_memory_kind host)
{
	struct scene *scene = start();
	const struct tfs_judgement *judgement;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		read_loss(scene, 11, false, host);
		scene_host(scene, 30000);
	}
	judgement = scene_judge(scene, NULL);
	expect(scene, "TFS202", TFS_STATE_VIOLATED, 1);
	expect(scene, "TFS203", TFS_STATE_VIOLATED, 1);
	TEST_EQ(scene_state(scene, "TFS101"),
		host == TFS_MEMORY_PAGEABLE ? TFS_STATE_VIOLATED : TFS_STATE_PASSED);
	TEST_EQ(judgement->group_count, 1);
	TEST_EQ(scene_finding(scene, "TFS202", 11)->group,
		scene_finding(scene, "TFS203", 11)->group);
	TEST_EQ(scene_finding(scene, "TFS203", 11)->level, TFS_LEVEL_ERROR);
	TEST_STR(scene_finding(scene, "TFS202", 11)->message,
		"the copy to the host waits for the device, 1 call/step");
	TEST_STR(scene_finding(scene, "TFS203", 11)->message,
		"copies 4 B to the host and waits for them, 1 call/step");
	scene_destroy(scene);
}

/* Async by name, and waited for at once: the copy and the wait are one group. */
static void an_async_read_back_waited_for(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		read_loss(scene, 11, true, TFS_MEMORY_PINNED);
		scene_stream_sync(scene, 12, SCENE_LEGACY);
		scene_host(scene, 30000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS203", TFS_STATE_VIOLATED, 1);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 1);
	TEST_TRUE(scene_finding(scene, "TFS203", 11)->group);
	TEST_EQ(scene_finding(scene, "TFS203", 11)->group,
		scene_finding(scene, "TFS201", 12)->group);
	TEST_EQ(scene_finding(scene, "TFS203", 11)->level, TFS_LEVEL_ERROR);
	scene_destroy(scene);
}

/* Read a step later: the next step's work is under way by then. */
static void a_late_read_back_passes(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		if (i)
			scene_event_sync(scene, 13, 100);
		read_loss(scene, 11, true, TFS_MEMORY_PINNED);
		scene_event_record(scene, 12, SCENE_LEGACY, 100);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

static void results_to_the_host(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call norm;

		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		norm = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_blas,
			"cublasSnrm2_v2");
		builder_operand(&norm, TFS_ROLE_READ, weights, 4096);
		builder_attribute(&norm, TFS_ATTRIBUTE_host_result, 1);
		scene_make(scene, &norm, 5000);
		norm = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_blas,
			"cublasSasum_v2");
		builder_operand(&norm, TFS_ROLE_READ, weights, 4096);
		scene_make(scene, &norm, 5000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS202", TFS_STATE_VIOLATED, 1);
	TEST_TRUE(scene_finding(scene, "TFS202", 11));
	scene_destroy(scene);
}

/* Copies on the device and memsets of it do not wait; an upload is 101's. Nor does a release of
 * nothing. */
static void what_does_not_wait(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call copy;

		scene_step(scene);
		scene_set(scene, 10, weights, 4096, 1);
		scene_free(scene, 13, 0);
		copy = scene_call(
			scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
		copy.amount = 4;
		builder_operand(
			&copy, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), weights, 4);
		builder_operand(
			&copy, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), weights + 64, 4);
		builder_attribute(&copy, TFS_ATTRIBUTE_copy_kind, 3);
		scene_make(scene, &copy, 3000);
		scene_copy(scene, 12, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, weights,
			1 << 20, 100000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* What happens in evaluation steps is not judged. */
static void evaluation_is_not_judged(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		scene_phase_step(scene, TFS_PHASE_EVALUATION, 0);
		work(scene, 11, SCENE_LEGACY, 100000);
		read_loss(scene, 12, false, TFS_MEMORY_PAGEABLE);
		scene_device_sync(scene, 13);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* Nor is an evaluation that nothing told apart from the training step before it. */
static void mixed_steps_are_not_judged(void)
{
	struct scene *scene = start();
	const struct tfs_judgement *judgement;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		if (i % 6 != 5)
			continue;
		scene_device_sync(scene, 11);
		work(scene, 12, SCENE_LEGACY, 300000);
		read_loss(scene, 13, false, TFS_MEMORY_PAGEABLE);
	}
	judgement = scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	expect(scene, "TFS202", TFS_STATE_PASSED, 0);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	TEST_EQ(judgement->steps.judged, 25);
	scene_destroy(scene);
}

/* Where a step opens in the middle of its loop, the last one before the program does something
 * else is cut; a step that only lacks what others lack as well is not. */
static void cut_steps_are_not_judged(bool opens_in_the_middle)
{
	struct scene *scene = start();
	const struct tfs_judgement *judgement;

	for (unsigned i = 0; i < STEPS; i++) {
		const bool last = i % 6 == 5;

		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		if (i % 2 == 0)
			work(scene, 14, SCENE_LEGACY, 5000);
		scene_device_sync(scene, 11);
		if (!last || !opens_in_the_middle)
			work(scene, 12, SCENE_LEGACY, 300000);
		if (!last)
			continue;
		scene_phase_step(scene, TFS_PHASE_OTHER, 0);
		work(scene, 13, SCENE_LEGACY, 300000);
	}
	judgement = scene_judge(scene, NULL);
	TEST_EQ(judgement->steps.judged, opens_in_the_middle ? 25 : 30);
	scene_destroy(scene);
}

/* More places than are listed: what comes behind them has not passed for that. */
static void a_list_cut_short(void)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 100000);
		for (unsigned line = 100; line < 1200; line++)
			read_loss(scene, line, false, TFS_MEMORY_PAGEABLE);
		scene_malloc(scene, 11, UINT64_C(0x7e0000000000), 4096);
		scene_free(scene, 12, UINT64_C(0x7e0000000000));
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS202"), TFS_STATE_VIOLATED);
	TEST_EQ(scene_state(scene, "TFS203"), TFS_STATE_VIOLATED);
	expect(scene, "TFS401", TFS_STATE_VIOLATED, 2);
	scene_destroy(scene);
}

static void replaces(const struct scene *scene, unsigned line)
{
	static const char advice[] = "Replace this synchronisation, which only orders the work of";
	const struct tfs_finding *finding = scene_finding(scene, "TFS201", line);

	if (TEST_TRUE(finding))
		TEST_EQ(strncmp(finding->advice, advice, strlen(advice)), 0);
}

/* A wait for one stream leaves the other's work to do, whether or not the device's was recorded. */
static void a_wait_for_one_of_two_streams(bool seen)
{
	struct scene *scene = start();
	const unsigned copies = scene_stream(scene, 4), own = scene_stream(scene, 4);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, copies, true, true, TFS_MEMORY_PINNED, weights, 1 << 20,
			seen ? 20000 : 0);
		work(scene, 11, own, seen ? 200000 : 0);
		scene_stream_sync(scene, 12, copies);
		scene_host(scene, 1000);
		scene_stream_sync(scene, 13, own);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_VIOLATED, 1);
	replaces(scene, 13);
	scene_destroy(scene);
}

/* A stream that has no work is done, and the one that works is not. */
static void a_wait_for_an_idle_stream_passes(void)
{
	struct scene *scene = start();
	const unsigned idle = scene_stream(scene, 4);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 11, SCENE_LEGACY, 100000);
		scene_stream_sync(scene, 12, idle);
		scene_host(scene, 1000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS201", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* Where the wait alone has a stream's work come after another's, it is not to be removed. */
static void a_wait_that_orders_streams(bool seen)
{
	struct scene *scene = start();
	const unsigned own = scene_stream(scene, 4), other = scene_stream(scene, 4);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, own, seen ? 100000 : 0);
		scene_stream_sync(scene, 11, own);
		scene_host(scene, 20000);
		work(scene, 12, other, seen ? 100000 : 0);
		scene_event_record(scene, 13, other, 100);
		scene_event_sync(scene, 14, 100);
	}
	scene_judge(scene, NULL);
	replaces(scene, 11);
	scene_destroy(scene);
}

int main(void)
{
	a_wait_for_one_of_two_streams(true);
	a_wait_for_one_of_two_streams(false);
	a_wait_for_an_idle_stream_passes();
	a_wait_that_orders_streams(true);
	a_wait_that_orders_streams(false);
	a_list_cut_short();
	a_sync_each_step();
	two_syncs_share_a_cost();
	throttling_passes();
	a_reached_event_passes();
	rare_syncs_pass();
	timings_keep_the_call(1, TFS_LEVEL_NOTE, false);
	timings_keep_the_call(5, TFS_LEVEL_ERROR, false);
	timings_keep_the_call(1000, TFS_LEVEL_ERROR, true);
	a_loss_each_step(TFS_MEMORY_PAGEABLE);
	a_loss_each_step(TFS_MEMORY_PINNED);
	an_async_read_back_waited_for();
	a_late_read_back_passes();
	results_to_the_host();
	what_does_not_wait();
	evaluation_is_not_judged();
	mixed_steps_are_not_judged();
	cut_steps_are_not_judged(true);
	cut_steps_are_not_judged(false);
	return test_result();
}
