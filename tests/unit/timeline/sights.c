/* SPDX-License-Identifier: MIT */
/* Which recorded steps are judged where windows saw different things, and what was no training. */
#include "rules/timeline/timeline.h"

#include "tests/unit/timeline/laid_out.h"

#define STEP_NS 1000u
#define CALLS 1u  /* as in tfs_window_record */
#define DEVICE 2u /* likewise */

static uint64_t now, steps;

static void begin(void)
{
	builder = builder_create();
	now = 10000;
	steps = 0;
}

static void put_window(uint32_t flags, unsigned count)
{
	builder_window(builder, true, 1, now - 1, flags);
	for (unsigned i = 0; i < count; i++, now += STEP_NS)
		builder_step(builder, ++steps, now, TFS_PHASE_TRAINING, 2);
	builder_step(builder, steps + 1, now, TFS_PHASE_TRAINING, 0);
	builder_window(builder, false, 1, now + 1, 0);
	now += STEP_NS;
	steps++;
}

/* Steps with the device's activity, then steps without it: which of them are judged. */
static void sights(unsigned sighted, unsigned blind, bool sees, unsigned judged)
{
	begin();
	put_window(CALLS | DEVICE, sighted);
	put_window(CALLS, blind);
	lay_out();
	if (!TEST_EQ(timeline->judged_count, judged))
		printf("  of %u and %u\n", sighted, blind);
	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		TEST_NEED(step->window != TFS_NONE);
		TEST_EQ(timeline->windows[step->window].flags & DEVICE, sees ? DEVICE : 0);
	}
	end();
}

/* What was marked before another loop turned out to be the step counts among other steps, and is
 * not judged. */
static void marked_anew(void)
{
	begin();
	put_window(CALLS | DEVICE, 6);
	TEST_EQ(steps, 7);
	builder_step(builder, steps, now, TFS_PHASE_WARMUP, TFS_STEP_ANEW);
	now += STEP_NS;
	put_window(CALLS | DEVICE, 4);
	lay_out();
	TEST_NEED(timeline->judged_count == 4);
	TEST_EQ(timeline->steps[timeline->judged[0]].index, 8);
	TEST_EQ(timeline->other_steps, 7);
	TEST_EQ(timeline->training_steps, 5);
	TEST_EQ(timeline->step_count, 4);
	end();
}

int main(void)
{
	/* Enough of them, or the greater part. */
	sights(20, 30, true, 20);
	sights(19, 30, false, 30);
	sights(5, 4, true, 5);
	sights(4, 5, false, 5);
	sights(3, 0, true, 3);
	sights(0, 3, false, 3);
	marked_anew();
	return test_result();
}
