/* SPDX-License-Identifier: MIT */
/* How much memory is in use, and when. */
#include "rules/evidence/memory_use.h"

#include "tests/test.h"

static const struct tfs_allocation ranges[] = {
	{.from_ns = 10, .until_ns = UINT64_MAX, .bytes = 1000, .memory = TFS_MEMORY_DEVICE},
	{.from_ns = 20, .until_ns = 400, .bytes = 70000, .memory = TFS_MEMORY_PINNED},
	{.from_ns = 100, .until_ns = 250, .bytes = 500, .memory = TFS_MEMORY_DEVICE},
	{.from_ns = 200, .until_ns = 300, .bytes = 300, .memory = TFS_MEMORY_DEVICE},
	{.from_ns = 300, .until_ns = 350, .bytes = 200, .memory = TFS_MEMORY_DEVICE},
};
static struct tfs_step step;
static const struct tfs_timeline timeline = {.ranges = ranges, .range_count = 5, .steps = &step};

static void events_are_in_order(void)
{
	/* Of one moment, what is freed comes first: it is not in use beside what follows. */
	static const struct tfs_memory_event want[] = {{10, 1000, false}, {100, 500, false},
		{200, 300, false}, {250, 500, true}, {300, 300, true}, {300, 200, false},
		{350, 200, true}};
	size_t count = 0;
	struct tfs_memory_event *events =
		tfs_memory_events(&timeline, 1u << TFS_MEMORY_DEVICE, &count);

	TEST_NEED(events && count == sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < count; i++) {
		TEST_EQ(events[i].ns, want[i].ns);
		TEST_EQ(events[i].bytes, want[i].bytes);
		TEST_EQ(events[i].frees, want[i].frees);
	}
	free(events);
	events = tfs_memory_events(
		&timeline, 1u << TFS_MEMORY_DEVICE | 1u << TFS_MEMORY_PINNED, &count);
	TEST_EQ(count, 9);
	free(events);
}

/* The most in use in a step from one moment to another. */
static void most(uint64_t from_ns, uint64_t until_ns, double bytes)
{
	static const uint32_t steps[] = {0};
	const struct tfs_steady steady = {.timeline = &timeline, .steps = steps, .step_count = 1};

	step = (struct tfs_step){.start_ns = from_ns, .end_ns = until_ns};
	if (!TEST_EQ(tfs_memory_most(&steady), bytes))
		printf("  from %llu on\n", (unsigned long long)from_ns);
}

static void of_the_device(unsigned devices, bool known, double bytes)
{
	static const struct tfs_device_record record = {.memory_bytes = UINT64_C(16) << 30};
	const struct tfs_device list[2] = {{.record = known ? &record : NULL}};
	const struct tfs_timeline of = {.devices = list, .device_count = devices};

	TEST_EQ(tfs_memory_of_device(&of), bytes);
}

int main(void)
{
	const struct tfs_steady run = {.timeline = &timeline, .run = true, .step_count = 1};

	events_are_in_order();
	most(0, 90, 1000);
	most(0, 150, 1500);
	most(150, 400, 1800);
	/* What is freed in a step was in use when it began. */
	most(240, 290, 1800);
	most(260, 290, 1300);
	most(310, 340, 1200);
	most(360, 900, 1000);
	TEST_EQ(tfs_memory_most(&run), 1800);
	of_the_device(1, true, 16.0 * (1 << 30));
	of_the_device(1, false, 0);
	of_the_device(2, true, 0);
	of_the_device(0, false, 0);
	return test_result();
}
