/* SPDX-License-Identifier: MIT */
/* How far training is at a moment, by marks of single steps and by packed ones. */
#include "rules/timeline/reached.h"

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define SITE 5u

static struct tfs_trace *trace;

static void put_mark(
	struct builder *builder, uint64_t index, uint64_t ns, enum tfs_phase phase, uint32_t site)
{
	const struct tfs_step_record record = {.phase = (uint16_t)phase,
		.site = site,
		.start_ticks = ns,
		.index = index,
		.source = TFS_STEP_LOOPS};

	builder_record(builder, TFS_RECORD_step, &record, sizeof(record));
}

static void check(uint64_t ns, uint64_t step, uint64_t begins)
{
	const struct tfs_reached reached = tfs_reached_at(trace, ns);

	if (!TEST_EQ(reached.step, step) || !TEST_EQ(reached.ticks, begins))
		printf("  at %llu\n", (unsigned long long)ns);
}

int main(void)
{
	const float durations[] = {100, 100, 100, 100, 100};
	struct builder *builder = builder_create();

	put_mark(builder, 1, 1000, TFS_PHASE_TRAINING, SITE);
	put_mark(builder, 2, 1100, TFS_PHASE_TRAINING, SITE);
	/* Steps 3 to 7; behind the fifth an evaluation, behind which the sixth has a mark. */
	builder_steps(builder, 3, 1200, 5, durations, 0);
	put_mark(builder, 6, 1500, TFS_PHASE_EVALUATION, SITE);
	put_mark(builder, 6, 3000, TFS_PHASE_TRAINING, SITE);
	/* written at exit: nothing begins with it */
	put_mark(builder, 8, 9999, TFS_PHASE_TRAINING, 0);
	trace = builder_open(builder);
	TEST_NEED(trace);
	check(999, 0, 0);
	check(1000, 1, 1000);
	check(1199, 2, 1100);
	check(1200, 3, 1200);
	check(1399, 4, 1300);
	check(1400, 5, 1400);
	check(2999, 5, 1400);
	check(3000, 6, 3000);
	check(3099, 6, 3000);
	check(3100, 7, 3100);
	check(UINT64_MAX, 7, 3100);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return test_result();
}
