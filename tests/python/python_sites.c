/* SPDX-License-Identifier: MIT */
/*
 * The call sites of a recording whose frames have names, as python_shapes.py writes its own:
 * python_sites FILE. A line is "FUNCTION CALLS: FILE:LINE NAME | ...", innermost first; the C
 * frames before them are left out.
 */
#include <stdio.h>

#include "shim/trace/trace.h"
#include "tests/test.h"

static void tell(const struct tfs_trace *trace, const struct tfs_aggregate *sum)
{
	const uint64_t *frames;
	const unsigned count = tfs_trace_frames(trace, sum->site, &frames);
	const char *between = "";

	printf("%s %llu: ", tfs_trace_function(trace, sum->function),
		(unsigned long long)sum->count);
	for (unsigned i = 0; i < count; i++) {
		if (!(frames[i] & TFS_FRAME_NAMED))
			continue;
		printf("%s%s %s", between, tfs_trace_string(trace, TFS_FRAME_PLACE(frames[i])),
			tfs_trace_string(trace, TFS_FRAME_FUNCTION(frames[i])));
		between = " | ";
	}
	printf("\n");
}

int main(int count, char **arguments)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	struct tfs_damage damage;
	struct tfs_trace *trace;

	TEST_EQ(count, 2);
	TEST_EQ(tfs_trace_open(arguments[1], &damage, &trace), 0);
	const size_t total_count = tfs_trace_totals(trace, &totals, &shares);
	for (size_t i = 0; i < total_count; i++)
		tell(trace, &totals[i].sum);
	tfs_trace_close(trace);
	return test_result();
}
