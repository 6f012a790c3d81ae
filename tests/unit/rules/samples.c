/* SPDX-License-Identifier: MIT */
/* What samples of a thread add up to in stretches of time of which only some were sampled. */
#include <math.h>

#include "rules/evidence/meanwhile.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define MS UINT64_C(1000000)
#define TID 77u
#define STRETCHES 10u
#define SAMPLES 10u /* of a stretch, one for each millisecond */
#define LONG_AGO 100000u
#define EVERY 20u /* milliseconds, half of which are a stretch */

/* Of so many stretches the first ones are sampled; in so many samples others were looked at. */
static struct tfs_meanwhile find(unsigned sampled, unsigned crowds)
{
	const struct tfs_thread_record thread = {.tid = TID, .name = "main"};
	struct builder *builder = builder_create();
	struct tfs_intervals stretches = {0};
	struct tfs_timeline *timeline;
	struct tfs_meanwhile meanwhile;
	struct tfs_arena arena = {0};
	uint64_t nth = 0;
	/* Too long before the others to tell what came in between. */
	const struct tfs_host_record long_before = {.doing = TFS_HOST_pipe,
		.tid = TID,
		.ns = MS,
		.known = TFS_HOST_HAS_TIMES | TFS_HOST_HAS_READS};

	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_record(builder, TFS_RECORD_host, &long_before, sizeof(long_before));
	for (unsigned i = 0; i < STRETCHES; i++) {
		const uint64_t start_ns = (1000 + i * EVERY) * MS;

		TEST_NEED(tfs_intervals_add(&stretches, start_ns, start_ns + SAMPLES * MS) == 0);
		for (unsigned j = 0; j < SAMPLES && i < sampled; j++, nth++) {
			const struct tfs_host_record host = {.doing = TFS_HOST_pipe,
				.tid = TID,
				.ns = start_ns + j * MS + MS / 2,
				.ran_ns = nth * 1000,
				.queued_ns = nth * 1000,
				.user_ns = nth * 1000,
				.kernel_ns = nth * 1000,
				.read_bytes = (LONG_AGO + nth) * 4096,
				.faults = (LONG_AGO + nth) * 2,
				.known = TFS_HOST_HAS_TIMES | TFS_HOST_HAS_READS};
			const struct tfs_host_others_record others = {.threads = {3, 2, 1},
				.children = {8, 4, 2},
				.ns = host.ns,
				.tid = TID};

			builder_record(builder, TFS_RECORD_host, &host, sizeof(host));
			if (nth < crowds)
				builder_record(
					builder, TFS_RECORD_host_others, &others, sizeof(others));
		}
	}
	struct tfs_trace *trace = builder_open(builder);

	TEST_NEED(trace && tfs_timeline_create(trace, &timeline) == 0);
	TEST_NEED(timeline->thread_count == 1);
	TEST_EQ(tfs_meanwhile_find(timeline, 0, &stretches, &arena, &meanwhile), 0);
	tfs_arena_finish(&arena);
	tfs_intervals_finish(&stretches);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return meanwhile;
}

int main(void)
{
	/* Five of ten stretches: nine milliseconds of each, and one of eleven between two. */
	const double ways = 5 * 9 + 4 / 11.0, seen = 5 * 9 + 4;
	struct tfs_meanwhile meanwhile = find(5, 50);

	TEST_EQ(meanwhile.samples, 50);
	TEST_IN(meanwhile.faults * 100, 200 * ways * 100 / seen - 10, 200 * ways * 100 / seen + 10);
	TEST_IN(meanwhile.read_bytes, 4096 * ways * 100 / seen - 10, 4096 * ways * 100 / seen + 10);
	TEST_EQ(meanwhile.crowds, 50);
	TEST_EQ(meanwhile.threads.count, 3);
	TEST_EQ(meanwhile.threads.running, 2);
	TEST_EQ(meanwhile.threads.disk, 1);
	TEST_EQ(meanwhile.children.count, 8);
	TEST_EQ(meanwhile.children.running, 4);
	TEST_EQ(meanwhile.children.disk, 2);
	/* Who hardly runs waits for no processor; of so little time the kernel's part is not known.
	 */
	TEST_TRUE(isnan(meanwhile.queued));
	TEST_TRUE(isnan(meanwhile.kernel));
	TEST_TRUE(tfs_meanwhile_waits(&meanwhile));
	/* All of them. */
	meanwhile = find(STRETCHES, 5);
	TEST_EQ(meanwhile.samples, 100);
	TEST_EQ(meanwhile.crowds, 5);
	TEST_EQ(meanwhile.threads.count, 3);
	/* Too few looks at others, and too few stretches. */
	meanwhile = find(STRETCHES, 4);
	TEST_EQ(meanwhile.crowds, 0);
	meanwhile = find(4, 50);
	TEST_EQ(meanwhile.samples, 0);
	return test_result();
}
