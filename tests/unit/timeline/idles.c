/* SPDX-License-Identifier: MIT */
/* Why the device was idle: what the host's thread did before it launched the work that ended it. */
#include "rules/timeline/timeline.h"

#include "tests/unit/timeline/laid_out.h"

#define FIRST 1000u  /* work of the device begins, */
#define IDLE 10000u  /* ends, */
#define NEXT 100000u /* and begins again */
#define LAUNCH 90000u

static uint32_t put_call(enum tfs_family family, uint64_t start_ns, uint64_t end_ns)
{
	const struct builder_call call = {
		.function = builder_function(builder, TFS_LIBRARY_cudart, family, "someFunction"),
		.start_ns = start_ns,
		.duration_ns = end_ns - start_ns};

	return builder_call(builder, &call);
}

static void put_work(
	uint16_t device, uint32_t stream, uint32_t correlation, uint64_t start_ns, uint64_t end_ns)
{
	const struct tfs_device_op_record record = {.operation = TFS_DEVICE_KERNEL,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.correlation = correlation,
		.stream = stream,
		.device = device};

	builder_record(builder, TFS_RECORD_device_op, &record, sizeof(record));
}

static void begin(uint32_t flags)
{
	builder = builder_create();
	builder_window(builder, true, 1, 0, flags);
}

static void lay(void)
{
	builder_window(builder, false, 1, 10 * NEXT, 3);
	lay_out();
}

/* A call between the launches of two pieces of work, and when the second one is launched. */
struct program {
	enum tfs_family family;
	uint64_t start_ns, end_ns, launch_ns, launched_ns;
	enum tfs_idle_why why;
	uint32_t call; /* first launch, call, second launch */
};

static void check(const struct program *program)
{
	begin(3);
	builder_link(builder, put_call(TFS_FAMILY_launch, 500, 700), 30);
	if (program->end_ns)
		put_call(program->family, program->start_ns, program->end_ns);
	builder_link(
		builder, put_call(TFS_FAMILY_launch, program->launch_ns, program->launched_ns), 31);
	put_work(0, 7, 30, FIRST, IDLE);
	put_work(0, 7, 31, NEXT, NEXT + 1000);
	lay();
	TEST_NEED(timeline->idle_count == 1);
	TEST_EQ(timeline->idles[0].start_ns, IDLE);
	TEST_EQ(timeline->idles[0].end_ns, NEXT);
	if (!TEST_EQ(timeline->idles[0].why, program->why) ||
		!TEST_EQ(timeline->idles[0].call, program->call))
		printf("  family %d, %d to %d\n", (int)program->family, (int)program->start_ns,
			(int)program->end_ns);
	end();
}

/* A call of a kind that waits for the device lasts into the time in which that is idle. */
static void kinds(void)
{
	static const enum tfs_family wait[] = {TFS_FAMILY_device_sync, TFS_FAMILY_stream_sync,
		TFS_FAMILY_event_sync, TFS_FAMILY_copy, TFS_FAMILY_copy_async, TFS_FAMILY_set,
		TFS_FAMILY_free, TFS_FAMILY_host_alloc, TFS_FAMILY_host_free,
		TFS_FAMILY_host_register, TFS_FAMILY_host_unregister, TFS_FAMILY_stream_destroy,
		TFS_FAMILY_reset};
	static const enum tfs_family others[] = {TFS_FAMILY_other, TFS_FAMILY_alloc,
		TFS_FAMILY_set_async, TFS_FAMILY_event_record, TFS_FAMILY_free_async};
	struct program program = {.start_ns = 5000,
		.end_ns = IDLE + 2000,
		.launch_ns = LAUNCH,
		.launched_ns = LAUNCH + 500,
		.why = TFS_IDLE_DRAINED,
		.call = 1};

	for (size_t i = 0; i < sizeof(wait) / sizeof(*wait); i++) {
		program.family = wait[i];
		check(&program);
	}
	program.why = TFS_IDLE_HOST;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		program.family = others[i];
		check(&program);
	}
}

/* The longest of the host's stretches without a call, as far as the device was idle. */
static void stretches(void)
{
	begin(3);
	builder_link(builder, put_call(TFS_FAMILY_launch, 500, 700), 30);
	put_call(TFS_FAMILY_other, 20000, 21000);
	put_call(TFS_FAMILY_other, 36000, 37000);
	builder_link(builder, put_call(TFS_FAMILY_launch, 50000, 50500), 31);
	put_work(0, 7, 30, FIRST, IDLE);
	put_work(0, 7, 31, 51000, 52000);
	lay();
	TEST_NEED(timeline->idle_count == 1);
	TEST_EQ(timeline->idles[0].why, TFS_IDLE_HOST);
	TEST_EQ(timeline->idles[0].call, 1);
	end();
}

/* Each device is busy while any of its streams is; one that has no work does not count. */
static void devices(uint32_t flags, bool seen)
{
	begin(flags);
	for (uint16_t i = 0; i < 3; i++)
		builder_device(builder, i, "A device", false);
	put_work(0, 7, 30, 1000, 10000);
	put_work(0, 8, 31, 5000, 12000);
	put_work(0, 8, 32, 20000, 21000);
	put_work(1, 7, 33, 1000, 2000);
	put_work(1, 7, 34, 3000, 4000);
	put_work(1, 7, 35, 6000, 7000);
	lay();
	TEST_NEED(timeline->device_count >= 2);
	TEST_EQ(tfs_timeline_working_devices(timeline), 2);
	TEST_EQ(timeline->devices[0].busy_ns, 12000);
	TEST_EQ(timeline->devices[1].busy_ns, 3000);
	TEST_EQ(timeline->devices[0].idle_count, seen ? 1 : 0);
	TEST_EQ(timeline->devices[1].idle_count, seen ? 2 : 0);
	TEST_EQ(timeline->devices[1].first_idle, seen ? 1 : 0);
	for (uint32_t i = 0; i < timeline->idle_count; i++) {
		TEST_EQ(timeline->idles[i].device, i > 0);
		TEST_EQ(timeline->idles[i].why, TFS_IDLE_UNKNOWN);
	}
	end();
}

int main(void)
{
	static const struct program programs[] = {
		/* It was over when the device was. */
		{TFS_FAMILY_device_sync, 5000, IDLE - 1, LAUNCH, LAUNCH + 500, TFS_IDLE_HOST, 1},
		/* Half of the time until the launch. */
		{TFS_FAMILY_alloc, 20000, 60000, LAUNCH, LAUNCH + 500, TFS_IDLE_CALL, 1},
		{TFS_FAMILY_alloc, 20000, 59999, LAUNCH, LAUNCH + 500, TFS_IDLE_HOST, 1},
		{TFS_FAMILY_alloc, 5000, 49999, LAUNCH, LAUNCH + 500, TFS_IDLE_HOST, 1},
		/* The launch itself, begun before: it launched late, or it had done so long since.
		 */
		{TFS_FAMILY_other, 0, 0, 5000, 55001, TFS_IDLE_CALL, 1},
		{TFS_FAMILY_other, 0, 0, 5000, 55000, TFS_IDLE_QUEUED, 1},
	};

	kinds();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		check(&programs[i]);
	stretches();
	devices(3, true);
	devices(1, false);
	return test_result();
}
