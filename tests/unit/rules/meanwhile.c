/* SPDX-License-Identifier: MIT */
/* What the step's thread did while the device waited for its batch, by samples of it. */
#include "rules/evidence/meanwhile.h"

#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 25u
#define FIRST 10u
#define THREAD 77u /* the scene's own */
#define WORK UINT64_C(3000000)
#define OWN UINT64_C(10000000) /* of the host, with the device idle */
#define PERIOD UINT64_C(1000000)
#define CODE UINT64_C(0x401500)

/* One sample at each millisecond of the host's own code, which does this in the first `many` of
 * ten, and runs in the others. */
struct doing {
	enum tfs_host_doing what;
	unsigned many;
	uint32_t tid;
	unsigned steps; /* that have samples, from the FIRSTth on where these are not all */
	uint64_t queued_ns, read_bytes;
	unsigned children, children_running;
	bool sparse; /* what it does at first is sampled half as often */
};

static uint64_t ran_ns, queued_ns, read_bytes;

static void sample(struct scene *scene, const struct doing *doing, unsigned nth)
{
	const uint64_t ns = scene_now(scene) + nth * PERIOD + PERIOD / 2;
	const bool runs = nth >= doing->many;
	const struct tfs_host_record host = {.doing = runs ? TFS_HOST_code : doing->what,
		.tid = doing->tid,
		.ns = ns,
		.ran_ns = ran_ns,
		.queued_ns = queued_ns,
		.read_bytes = read_bytes,
		.known = TFS_HOST_HAS_TIMES | TFS_HOST_HAS_READS,
		.user_ns = ran_ns / 4,
		.kernel_ns = ran_ns / 4 * 3};
	const struct tfs_host_code_record code = {
		.tid = doing->tid, .ns = ns, .address = CODE + nth % 2};
	const struct tfs_host_others_record others = {
		.children = {(uint16_t)doing->children, (uint16_t)doing->children_running, 0},
		.ns = ns,
		.tid = doing->tid};

	const struct tfs_host_code_record foreign = {
		.tid = doing->tid + 1000, .ns = ns, .address = CODE + 2};

	builder_record(scene_builder(scene), TFS_RECORD_host_code, &foreign, sizeof(foreign));
	ran_ns += PERIOD;
	queued_ns += doing->queued_ns;
	read_bytes += doing->read_bytes;
	builder_record(scene_builder(scene), TFS_RECORD_host, &host, sizeof(host));
	if (runs)
		builder_record(scene_builder(scene), TFS_RECORD_host_code, &code, sizeof(code));
	else if (doing->children)
		builder_record(
			scene_builder(scene), TFS_RECORD_host_others, &others, sizeof(others));
}

/* The device works meanwhile: what the thread does then is of no interest. */
static void sample_busy(struct scene *scene, uint32_t tid)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct tfs_host_record host = {.doing = TFS_HOST_device,
			.tid = tid,
			.ns = scene_now(scene) + i * PERIOD,
			.ran_ns = ran_ns,
			.queued_ns = queued_ns,
			.read_bytes = read_bytes};

		builder_record(scene_builder(scene), TFS_RECORD_host, &host, sizeof(host));
	}
}

static struct scene *steps(const struct doing *doing)
{
	const unsigned first = doing->steps < STEPS ? FIRST : 0;
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		sample_busy(scene, doing->tid);
		scene_device_sync(scene, 9);
		for (unsigned nth = 0; i - first < doing->steps && nth < OWN / PERIOD; nth++)
			if (!doing->sparse || nth >= doing->many || nth % 2 == 0)
				sample(scene, doing, nth);
		scene_host(scene, OWN);
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory, 1 << 16,
			100000);
		scene_launch(scene, 11, SCENE_LEGACY, WORK, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	return scene;
}

static const struct tfs_finding *found(struct scene *scene)
{
	const struct tfs_finding *finding = scene_finding(scene, "TFS701", 10);

	if (!finding)
		scene_print(scene);
	return finding;
}

static void says(const struct tfs_finding *finding, const char *text)
{
	if (!strstr(finding->message, text))
		TEST_STR(finding->message, text);
}

static void silent(const struct tfs_finding *finding, const char *text)
{
	if (strstr(finding->message, text))
		TEST_STR(finding->message, "without it");
}

/* Three in ten read, the rest runs; a tenth of what it could run it waited for a processor. */
static void shares(void)
{
	const struct doing doing = {
		TFS_HOST_file, 3, THREAD, STEPS, PERIOD / 9, UINT64_C(1) << 20, 0, 0, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding,
		" samples the thread was running (69 %, 75 % of that in the kernel), reading or writing files (31 %)");
	says(finding, "; for 10 % of the time in which it could run, it waited for a processor");
	says(finding, "; it read ");
	says(finding, " MiB per step");
	TEST_TRUE(!strncmp(finding->advice, "Make batches beside the step", 28));
	TEST_EQ(finding->code.count, 2);
	TEST_TRUE(finding->code.items[0].samples >= finding->code.items[1].samples);
	TEST_EQ(finding->code.items[0].samples + finding->code.items[1].samples, finding->code.all);
	TEST_IN(finding->code.all, 7 * (STEPS - 3), 7 * STEPS);
	scene_destroy(scene);
}

static void reads(void)
{
	const struct doing doing = {TFS_HOST_file, 8, THREAD, STEPS, 0, 0, 0, 0, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "reading or writing files (82 %), running (18 %");
	silent(finding, "it read");
	silent(finding, "a processor");
	TEST_TRUE(!strncmp(finding->advice, "Read beside the step", 20));
	TEST_EQ(finding->code.count, 0);
	scene_destroy(scene);
}

/* A sample stands for the time around it: what is sampled less often is not less. */
static void unevenly(void)
{
	const struct doing doing = {TFS_HOST_pipe, 6, THREAD, STEPS, 0, 0, 0, 0, true};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "the thread was waiting for a pipe (56 %), running (44 %");
	TEST_TRUE(!strncmp(finding->advice, "The thread waits for other threads", 34));
	scene_destroy(scene);
}

/* Most of the time in which it could run, it is not let: more workers would make that worse. */
static void queues(void)
{
	const struct doing doing = {TFS_HOST_file, 0, THREAD, STEPS, PERIOD, 0, 0, 0, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "; for 50 % of the time in which it could run, it waited for a processor");
	TEST_TRUE(!strncmp(finding->advice, "Free processors first", 21));
	scene_destroy(scene);
}

/* Who polls may ask for the data itself: another is at work only where one is seen to be. */
static void polls(unsigned running, const char *advice)
{
	const struct doing doing = {TFS_HOST_ready, 10, THREAD, STEPS, 0, 0, 4, running, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "the thread was waiting until descriptors are ready (100 %)");
	TEST_TRUE(!strncmp(finding->advice, advice, strlen(advice)));
	scene_destroy(scene);
}

/* Three of four children run while it waits for a pipe. */
static void waits(void)
{
	const struct doing doing = {TFS_HOST_pipe, 10, THREAD, STEPS, 0, 0, 4, 3, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "waiting for a pipe (100 %); of 4 child processes, 3 ran on average");
	silent(finding, "other thread");
	TEST_TRUE(!strncmp(finding->advice, "The thread waits for other threads", 34));
	scene_destroy(scene);
}

/* Twenty samples are enough, of five stretches. */
static void few(void)
{
	const struct doing doing = {TFS_HOST_sleep, 10, THREAD, 5, 0, 0, 0, 0, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);

	TEST_NEED(finding);
	says(finding, "in 50 samples the thread was asleep (100 %)");
	scene_destroy(scene);
}

/* Too few samples, or of another thread, say nothing. */
static void nothing(void)
{
	const struct doing none[] = {{TFS_HOST_file, 3, THREAD, 4, 0, 0, 0, 0, false},
		{TFS_HOST_file, 3, THREAD + 1, STEPS, 0, 0, 0, 0, false}};

	for (size_t i = 0; i < 2; i++) {
		struct scene *scene = steps(&none[i]);
		const struct tfs_finding *finding = found(scene);

		TEST_NEED(finding);
		says(finding, "; what the host did then was not seen");
		TEST_STR(finding->advice, finding->rule->advice);
		TEST_EQ(finding->code.count, 0);
		scene_destroy(scene);
	}
}

/* What lies outside of the stretches in which the device waits does not count. */
static void outside(void)
{
	const struct doing doing = {TFS_HOST_sleep, 10, THREAD, STEPS, 0, 0, 0, 0, false};
	struct scene *scene = steps(&doing);
	const struct tfs_finding *finding = found(scene);
	const struct tfs_timeline *timeline = scene_judgement(scene)->timeline;
	struct tfs_intervals none = {0};
	struct tfs_meanwhile meanwhile;
	struct tfs_arena arena = {0};

	TEST_NEED(finding);
	says(finding, "the thread was asleep (100 %)");
	TEST_EQ(tfs_meanwhile_find(timeline, 0, &none, &arena, &meanwhile), 0);
	TEST_EQ(meanwhile.samples, 0);
	TEST_EQ(meanwhile.code.all, 0);
	tfs_arena_finish(&arena);
	scene_destroy(scene);
}

int main(void)
{
	shares();
	reads();
	unevenly();
	queues();
	polls(0, "Make batches beside the step");
	polls(1, "The thread waits for other threads");
	waits();
	few();
	nothing();
	outside();
	return test_result();
}
