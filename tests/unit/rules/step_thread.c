/* SPDX-License-Identifier: MIT */
/* Which thread makes the steps: the one that names them, or that opens them, or that is first. */
#include "rules/whatif/step_thread.h"

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define STEPS 8u
#define FIRST_NS 10000u
#define STEP_NS 5000u
#define OPENING 0x402000u

enum by { NAME, OTHER_NAMES, SITE, FIRST_CALL };

static void put_thread(struct builder *builder, uint32_t index, uint32_t tid)
{
	const struct tfs_thread_record record = {.index = index, .tid = tid, .name = "thread"};

	builder_thread(builder, index);
	builder_record(builder, TFS_RECORD_thread, &record, sizeof(record));
}

static void put_range(struct builder *builder, enum tfs_range_kind kind, uint64_t ns, uint32_t tid)
{
	const struct tfs_range_record record = {.range = (uint16_t)kind,
		.name = 1,
		.start_ticks = ns,
		.duration_ticks = STEP_NS,
		.tid = tid};

	builder_record(builder, TFS_RECORD_range, &record, sizeof(record));
}

/* The first thread calls first in each step, the second one a little later, from another site; it
 * may have named or opened the step. A range names steps only where names are what they were found
 * by. */
static void put_step(struct builder *builder, unsigned nth, enum by by, const uint32_t *sites)
{
	const uint64_t ns = FIRST_NS + nth * UINT64_C(1) * STEP_NS;
	const struct tfs_step_record mark = {.phase = TFS_PHASE_TRAINING,
		.site = by == SITE ? sites[1] : 0,
		.start_ticks = ns,
		.index = nth + 1,
		.source = by <= OTHER_NAMES ? TFS_STEP_NVTX : TFS_STEP_LOOPS,
		.flags = 2};

	builder_thread(builder, 0);
	builder_record(builder, TFS_RECORD_step, &mark, sizeof(mark));
	if (by != OTHER_NAMES)
		put_range(builder, TFS_RANGE_PUSHED, ns + 300, 78);
	if (by == OTHER_NAMES) {
		/* Marks, and ranges inside of the step, are none of its names. */
		put_range(builder, TFS_RANGE_MARK, ns, 78);
		put_range(builder, TFS_RANGE_PUSHED, ns + 2500, 78);
	}
	for (uint32_t thread = 0; thread < 2 && nth < STEPS; thread++) {
		builder_thread(builder, thread);
		for (unsigned i = 0; i < 3; i++)
			builder_call(builder, &(struct builder_call){.site = sites[thread],
						      .start_ns = ns + 100 + 100 * thread + 300 * i,
						      .duration_ns = 50,
						      .stream = TFS_NO_STREAM});
	}
	builder_thread(builder, 0);
}

static void check(enum by by, uint32_t thread)
{
	struct builder *builder = builder_create();
	struct tfs_timeline *timeline;
	struct tfs_steady steady;
	uint32_t sites[2];

	put_thread(builder, 1, 78);
	put_thread(builder, 0, 77);
	for (unsigned i = 0; i < 2; i++)
		sites[i] = builder_site(builder, 1, (uint64_t[]){OPENING + i});
	builder_window(builder, true, 1, FIRST_NS - 1, 3);
	for (unsigned i = 0; i <= STEPS; i++)
		put_step(builder, i, by, sites);
	builder_window(builder, false, 1, FIRST_NS + STEPS * STEP_NS + 1, 0);
	struct tfs_trace *trace = builder_open(builder);

	TEST_NEED(trace && tfs_timeline_create(trace, &timeline) == 0);
	TEST_NEED(tfs_steady_init(&steady, timeline, 0) == 0);
	TEST_NEED(steady.step_count == STEPS && steady.call_count == 6 * STEPS);
	if (!TEST_EQ(tfs_step_thread(&steady, 0, steady.step_count), thread) ||
		!TEST_EQ(tfs_step_thread(&steady, STEPS / 2, 2), thread))
		printf("  by %d\n", (int)by);
	tfs_steady_finish(&steady);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

int main(void)
{
	check(NAME, 1);
	check(OTHER_NAMES, 0);
	check(SITE, 1);
	check(FIRST_CALL, 0);
	return test_result();
}
