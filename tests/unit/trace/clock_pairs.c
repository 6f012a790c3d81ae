/* SPDX-License-Identifier: MIT */
/* The clock of a recording, from pairs of ticks and nanoseconds: two that are near each other must
 * do where there are no others, and else make no rate of their own. */
#include "shim/trace/trace.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define START_TICKS 2000000u
#define START_NS 1000000u

struct pair {
	uint64_t ticks, ns;
};

/* The header's own pair comes before them. */
static struct tfs_trace *open_with(const struct pair *pairs, size_t count, struct builder **out)
{
	struct builder *builder = builder_create();
	struct tfs_file_header *header;
	size_t size;

	for (size_t i = 0; i < count; i++) {
		const struct tfs_clock_record clock = {
			.ticks = pairs[i].ticks, .monotonic_ns = pairs[i].ns};

		builder_record(builder, TFS_RECORD_clock, &clock, sizeof(clock));
	}
	header = (void *)builder_bytes(builder, &size);
	header->clock = TFS_CLOCK_TSC;
	header->start_ticks = START_TICKS;
	header->start_ns = START_NS;
	struct tfs_trace *trace = builder_open(builder);
	TEST_NEED(trace);
	*out = builder;
	return trace;
}

/* Two ticks a nanosecond from the start on; half a millisecond later is all there is. */
static void test_short(void)
{
	const struct pair near = {START_TICKS + 1000000, START_NS + 500000};
	struct builder *builder;
	struct tfs_trace *trace = open_with(&near, 1, &builder);

	TEST_TRUE(tfs_trace_summary(trace)->calibrated);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS), START_NS);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS + 500000), START_NS + 250000);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS + 4000000), START_NS + 2000000);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void test_alone(void)
{
	struct builder *builder;
	struct tfs_trace *trace = open_with(NULL, 0, &builder);

	TEST_TRUE(!tfs_trace_summary(trace)->calibrated);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS), START_NS);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

/* A millisecond apart is far enough; a nanosecond less is not, at the end either. */
static void test_near(void)
{
	const struct pair pairs[] = {{START_TICKS + 2000000, START_NS + 1000000},
		{START_TICKS + 9000000, START_NS + 1999999},
		{START_TICKS + 6000000, START_NS + 2000000},
		{START_TICKS + 9000000, START_NS + 2500000}};
	struct builder *builder;
	struct tfs_trace *trace = open_with(pairs, 4, &builder);

	TEST_TRUE(tfs_trace_summary(trace)->calibrated);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS + 1000000), START_NS + 500000);
	/* Four ticks a nanosecond in the second one, and so on from there. */
	TEST_EQ(tfs_trace_ns(trace, START_TICKS + 4000000), START_NS + 1500000);
	TEST_EQ(tfs_trace_ns(trace, START_TICKS + 10000000), START_NS + 3000000);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

int main(void)
{
	test_short();
	test_alone();
	test_near();
	return test_result();
}
