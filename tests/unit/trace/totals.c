/* SPDX-License-Identifier: MIT */
/* Totals of calls by call site and function, over all threads: each is found, and no other. */
#include "shim/trace/trace.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define SITES 5u
#define FUNCTIONS 4u
#define THREADS 3u

int main(void)
{
	struct builder *builder = builder_create();
	const struct tfs_total *totals;

	/* Backwards, and not each function at each place. */
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		builder_thread(builder, thread);
		for (uint32_t site = 2 * SITES; site > 0; site -= 2)
			for (uint32_t function = FUNCTIONS; function > 0; function--)
				if ((site + function) % 3 != 0)
					builder_aggregate(builder,
						&(struct tfs_aggregate){.site = site,
							.function = (uint16_t)(2 * function),
							.count = 100 * site + function});
	}
	struct tfs_trace *trace = builder_open(builder);

	TEST_NEED(trace);
	const size_t count = tfs_trace_totals(trace, &totals, NULL);

	size_t found = 0;
	for (uint32_t site = 0; site <= 2 * SITES + 1; site++)
		for (uint32_t function = 0; function <= 2 * FUNCTIONS + 1; function++) {
			const struct tfs_total *total = tfs_trace_total(trace, site, function);
			const uint32_t half = function / 2;
			const bool there = site > 0 && site % 2 == 0 && site <= 2 * SITES &&
					   function % 2 == 0 && half > 0 && half <= FUNCTIONS &&
					   (site + half) % 3 != 0;

			TEST_EQ(total != NULL, there);
			if (!total)
				continue;
			found++;
			TEST_EQ(total->sum.site, site);
			TEST_EQ(total->sum.function, function);
			TEST_EQ(total->sum.count, THREADS * (100 * site + half));
			TEST_EQ(total->shares, THREADS);
			TEST_TRUE(total >= totals && total < totals + count);
		}
	TEST_EQ(found, count);
	TEST_EQ(count, 13);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return test_result();
}
