/* SPDX-License-Identifier: MIT */
/* Idle time of the GPU: every nanosecond is a finding's, or is printed with what was going on. */
#include "rules/judge/idle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 25u
#define WORK UINT64_C(50000)
#define OWN UINT64_C(400000)   /* of the host in each step, with at most two kernels queued */
#define SEEN (1 - 1.0 / STEPS) /* the last step's work lies behind the recording */

/* A kernel, a wait for it (a finding, or the GPU is idle only in the host's own code), own code. */
static struct scene *steps(bool waits)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		if (waits)
			scene_device_sync(scene, 11);
		scene_host(scene, OWN);
		scene_launch(scene, 12, SCENE_LEGACY, WORK, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	return scene;
}

static const struct tfs_idle_owner *owner(
	const struct scene *scene, enum tfs_idle_why why, unsigned line)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const uint64_t *frames;

	for (size_t i = 0; i < judgement->idle.count; i++) {
		const struct tfs_idle_owner *item = &judgement->idle.items[i];

		if (item->why == why && item->site &&
			tfs_trace_frames(judgement->timeline->trace, item->site, &frames) &&
			frames[0] == 0x401000 + line * 16)
			return item;
	}
	return NULL;
}

/* The queue runs dry in a call that a finding is about. */
static void of_a_finding(void)
{
	struct scene *scene = steps(true);
	const struct tfs_idle_summary *idle = &scene_judgement(scene)->idle;
	const struct tfs_idle_owner *wait = owner(scene, TFS_IDLE_DRAINED, 11);

	TEST_TRUE(scene_finding(scene, "TFS201", 11));
	TEST_NEED(wait);
	TEST_TRUE(wait->explained);
	TEST_IN(wait->ns, (double)OWN * SEEN, (double)OWN * 1.05);
	TEST_EQ(idle->explained_ns, wait->ns);
	scene_destroy(scene);
}

/* It is of the function that runs dry, where that is called. */
static void whose_finding(void)
{
	struct scene *scene = steps(true);
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const struct tfs_finding *wait = scene_finding(scene, "TFS201", 11);
	struct tfs_arena arena = {0};

	TEST_NEED(wait);
	for (unsigned i = 0; i < 4; i++) {
		const struct tfs_finding finding = {.site = i & 1 ? wait->site : wait->site + 1,
			.function = i & 2 ? wait->function : (uint16_t)(wait->function + 1)};
		struct tfs_idle_summary idle;

		TEST_EQ(tfs_idle_find(judgement->timeline, &finding, 1, NULL, &arena, &idle), 0);
		TEST_EQ(idle.ns, judgement->idle.ns);
		TEST_EQ(idle.explained_ns, i == 3 ? judgement->idle.explained_ns : 0);
	}
	tfs_arena_finish(&arena);
	scene_destroy(scene);
}

/* Nothing but the host's own code holds the step up: no rule says so, and the time is printed. */
static void of_nothing(void)
{
	struct scene *scene = steps(false);
	const struct tfs_idle_summary *idle = &scene_judgement(scene)->idle;
	const struct tfs_idle_owner *code = owner(scene, TFS_IDLE_HOST, 10);

	TEST_EQ(scene_judgement(scene)->finding_count, 0);
	TEST_NEED(code);
	TEST_TRUE(!code->explained);
	TEST_IN(code->ns, (double)(OWN - 2 * WORK) * SEEN, (double)(OWN - 2 * WORK) * 1.05);
	TEST_EQ(idle->explained_ns, 0);
	TEST_TRUE(idle->items == code); /* the largest comes first */
	scene_destroy(scene);
}

/* Own code lies between several calls: the longest stretch is behind the second kernel's event.
 * What the thread does in it is told where it was sampled. */
static void behind_the_longest(bool sampled)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const struct tfs_idle_owner *code;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_event_record(scene, 11, SCENE_LEGACY, 0xe0);
		for (unsigned nth = 0; sampled && nth < 10; nth++) {
			const struct tfs_host_record host = {.doing = TFS_HOST_file,
				.tid = 77,
				.ns = scene_now(scene) + 3 * WORK + nth * OWN / 20};

			builder_record(scene_builder(scene), TFS_RECORD_host, &host, sizeof(host));
		}
		scene_host(scene, OWN);
		scene_event_record(scene, 12, SCENE_LEGACY, 0xe1);
		scene_host(scene, OWN / 4);
		scene_launch(scene, 13, SCENE_LEGACY, WORK, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	code = owner(scene, TFS_IDLE_HOST, 11);
	TEST_TRUE(!owner(scene, TFS_IDLE_HOST, 12));
	TEST_NEED(code);
	TEST_STR(code->samples ? code->samples : "none",
		sampled ? "in 240 samples the thread was reading or writing files (100 %)"
			: "none");
	scene_destroy(scene);
}

/* Idle time outside of judged steps is nobody's. */
static void of_no_step(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_host(scene, OWN);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_judgement(scene)->idle.count, 0);
	scene_destroy(scene);
}

/* The host makes a batch behind its wait for the device, and would be ahead without the wait. */
static void behind_a_wait(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, OWN, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, OWN / 2);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS701"), TFS_STATE_PASSED);
	TEST_STR(scene_reason(scene, "TFS701"),
		"the GPU is idle for 32 % of the step while the host makes the next batch, but the host's waits come first: "
		"without them it would make the batch while the GPU works; see TFS201, TFS202 and TFS203");
	scene_destroy(scene);
}

/* The host would be late without the wait, too. */
static void late_behind_a_wait(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, OWN);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS701", 10);
	TEST_NEED(finding);
	TEST_STR(finding->message,
		"the GPU is idle for 385 \xc2\xb5s per step (84 % of the step) while the host makes no CUDA call, "
		"after cudaDeviceSynchronize and before this call; what the host did then was not seen");
	TEST_EQ(scene_findings(scene, "TFS701"), 1);
	scene_destroy(scene);
}

/* In the middle of a step: whether a batch comes behind the host's code is told by which way the
 * copy there goes, if that is known. */
static void before_a_copy(uint64_t kind, bool batch)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_host(scene, OWN);
		call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_copy_async, "cudaMemcpyAsync");
		call.amount = 1 << 20;
		builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, kind);
		scene_make(scene, &call, WORK);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS701", 11);
	TEST_EQ(scene_findings(scene, "TFS701"), batch);
	if (!TEST_STR(finding ? finding->message : scene_reason(scene, "TFS701"),
		    batch ? "the GPU is idle for 292 \xc2\xb5s per step (72 % of the step) while the host makes no CUDA call, "
			    "after __cudaLaunchKernel and before this call; what the host did then was not seen"
			  : "the GPU is idle for 72 % of the step while the host makes no CUDA call, with no copy of a batch after it: "
			    "whether the host makes the next batch then is not known"))
		printf("  kind %u\n", (unsigned)kind);
	scene_destroy(scene);
}

static void in_one_step(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	scene_step(scene);
	scene_launch(scene, 10, SCENE_LEGACY, OWN, 1024, 1, &memory);
	scene_judge(scene, NULL);
	TEST_EQ(scene_judgement(scene)->steps.judged, 1);
	TEST_EQ(scene_state(scene, "TFS701"), TFS_STATE_NOT_MEASURABLE);
	scene_destroy(scene);
}

/* Another thread waits all the time; the one that makes the steps does not. */
static void beside_a_wait(void)
{
	const struct tfs_thread_record thread = {.tid = 78, .name = "other"};
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	builder_thread(scene_builder(scene), 1);
	builder_record(scene_builder(scene), TFS_RECORD_thread, &thread, sizeof(thread));
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call wait = scene_call(scene, 30, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_event_sync, "cudaEventSynchronize");

		builder_thread(scene_builder(scene), 0);
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		builder_thread(scene_builder(scene), 1);
		wait.stream = TFS_NO_STREAM;
		wait.start_ns = scene_now(scene);
		wait.duration_ns = OWN - 1000;
		builder_call(scene_builder(scene), &wait);
		scene_host(scene, OWN);
	}
	builder_thread(scene_builder(scene), 0);
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS701"), TFS_STATE_VIOLATED))
		scene_print(scene);
	scene_destroy(scene);
}

static double share_of(const struct tfs_finding *finding)
{
	const char *at = strchr(finding->message, '(');

	return at ? strtod(at + 1, NULL) : -1;
}

/* Idle time is that of one device on average, and a call is counted once for all of them. */
static void of_two_devices(unsigned launches, uint64_t own_ns, const char *id)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const unsigned streams[] = {scene_stream(scene, 4), scene_stream(scene, 4)};
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < launches; j++) {
			scene_device(scene, j % 2);
			scene_launch(scene, 10 + j, streams[j % 2], 2000, 1024, 1, &memory);
			if (launches > 2)
				scene_host(scene, 5000);
		}
		scene_host(scene, own_ns);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, id, 0);
	if (!TEST_TRUE(finding))
		scene_print(scene);
	TEST_NEED(finding);
	if (!TEST_IN(share_of(finding), 60, 100))
		printf("  %s\n", finding->message);
	TEST_IN(finding->count_per_step, launches > 2 ? launches : SEEN,
		launches > 2 ? launches : 1);
	scene_destroy(scene);
}

int main(void)
{
	of_a_finding();
	whose_finding();
	of_nothing();
	behind_the_longest(false);
	behind_the_longest(true);
	of_no_step();
	behind_a_wait();
	late_behind_a_wait();
	before_a_copy(1, true);
	before_a_copy(2, false);
	before_a_copy(3, false);
	before_a_copy(4, false);
	in_one_step();
	beside_a_wait();
	of_two_devices(2, OWN, "TFS701");
	of_two_devices(24, 0, "TFS302");
	return test_result();
}
