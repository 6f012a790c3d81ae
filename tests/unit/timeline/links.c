/* SPDX-License-Identifier: MIT */
/* In which wrapped call a CUDA call was made: by its link, else by its thread and its time. */
#include "rules/timeline/timeline.h"

#include "tests/unit/timeline/laid_out.h"

#define CALLS 40u
#define EVERY_NS 1000u

static void begin(uint32_t *out_units)
{
	const struct tfs_thread_record thread = {.tid = 77, .name = "main"};

	builder = builder_create();
	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	for (unsigned i = 0; i < CALLS; i++)
		out_units[i] =
			builder_call(builder, &(struct builder_call){.start_ns = (i + 1) * EVERY_NS,
						      .duration_ns = EVERY_NS / 2,
						      .stream = TFS_NO_STREAM});
}

/* Ids that are not counted up; of two links with one id the first counts. */
static void ids_far_apart(void)
{
	uint32_t units[CALLS], ids[CALLS];

	begin(units);
	for (unsigned i = 0; i < CALLS; i++) {
		ids[i] = UINT32_C(0x9e3779b1) * (i + 1);
		builder_link(builder, units[i], ids[i]);
	}
	builder_link(builder, units[1], ids[0]);
	lay_out();
	for (unsigned i = 0; i < CALLS; i++) {
		TEST_EQ(tfs_timeline_correlated(timeline, ids[i]), i);
		TEST_EQ(tfs_timeline_correlated(timeline, ids[i] + 1), TFS_NONE);
	}
	end();
}

/* Whose thread's number is another one than the program's is the only thread that calls, unless
 * some have the program's number. */
static void another_number(bool known)
{
	uint32_t units[CALLS];

	begin(units);
	builder_device_api(builder, TFS_LIBRARY_cudart, 1, 40, 4242, 3 * EVERY_NS + 100, 50);
	builder_device_api(builder, TFS_LIBRARY_cudart, 1, 41, 4242, 3 * EVERY_NS + 700, 50);
	if (known)
		builder_device_api(builder, TFS_LIBRARY_cudart, 1, 42, 77, 5 * EVERY_NS + 100, 50);
	lay_out();
	TEST_EQ(tfs_timeline_correlated(timeline, 40), known ? TFS_NONE : 2);
	TEST_EQ(tfs_timeline_correlated(timeline, 41), TFS_NONE);
	TEST_EQ(tfs_timeline_correlated(timeline, 42), known ? 4 : TFS_NONE);
	end();
}

/* A link says more than the time. */
static void a_link_counts_first(void)
{
	uint32_t units[CALLS];

	begin(units);
	builder_device_api(builder, TFS_LIBRARY_cudart, 1, 40, 77, 3 * EVERY_NS + 100, 50);
	builder_link(builder, units[7], 40);
	lay_out();
	TEST_EQ(tfs_timeline_correlated(timeline, 40), 7);
	end();
}

int main(void)
{
	ids_far_apart();
	another_number(false);
	another_number(true);
	a_link_counts_first();
	return test_result();
}
