/* SPDX-License-Identifier: MIT */
/* How many operations a stream accepts, as the measurement shows it. */
#include "rules/replay/queue.h"

#include "tests/test.h"

#define US 1000.0
#define LAUNCHES 3000u
#define USUAL 1022u

static struct tfs_graph_call calls[LAUNCHES];
static struct tfs_graph_op ops[LAUNCHES];
static struct tfs_graph_stream streams[2];

/* Launches to so many streams by turns, each of which takes `depth` operations; a launch takes 2 us
 * where nothing holds it, an operation 40 us. */
static uint32_t measured(unsigned launches, unsigned depth, unsigned stream_count)
{
	const struct tfs_graph graph = {.calls = calls,
		.ops = ops,
		.streams = streams,
		.calls_count = launches,
		.ops_count = launches,
		.stream_count = stream_count,
		.thread_count = 1};
	double now = 0;

	for (unsigned i = 0; i < launches; i++) {
		const double free_at = i < stream_count ? 0 : ops[i - stream_count].end_ns;
		const double start = free_at > now ? free_at : now + 4 * US;
		const unsigned full = depth * stream_count;

		calls[i] = (struct tfs_graph_call){.start_ns = now, .first_op = i, .ops = 1};
		ops[i] = (struct tfs_graph_op){
			.start_ns = start, .end_ns = start + 40 * US, .stream = i % stream_count};
		if (i >= full && ops[i - full].end_ns > now)
			now = ops[i - full].end_ns;
		now += 2 * US;
		calls[i].end_ns = now;
	}
	return tfs_queue_depth(&graph);
}

int main(void)
{
	TEST_EQ(measured(LAUNCHES, 1003, 1), 1003);
	TEST_EQ(measured(LAUNCHES, 1000, 1), 1000);
	TEST_EQ(measured(LAUNCHES, 1023, 1), 1023);
	/* Never full: of this device it is not known. */
	TEST_EQ(measured(LAUNCHES, 999, 1), USUAL);
	TEST_EQ(measured(10, 1003, 1), USUAL);
	/* Each stream has a queue of its own. */
	TEST_EQ(measured(LAUNCHES, 600, 2), USUAL);
	TEST_EQ(measured(LAUNCHES, 1010, 2), 1010);
	TEST_EQ(measured(0, 1003, 1), USUAL);
	return test_result();
}
