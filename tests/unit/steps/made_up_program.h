/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_STEPS_MADE_UP_PROGRAM_H
#define TFS_TESTS_UNIT_STEPS_MADE_UP_PROGRAM_H

/*
 * A made-up program for the search for the training step. It keeps its own stack of return
 * addresses; a call's place is the whole stack, as in a recording.
 */
#include "shim/steps/loops/loops.h"
#include "tests/test.h"

#define DEEPEST 24u
#define READ 1
#define WRITE 2
#define MAYBE 7 /* or either */

static struct {
	struct tfs_loops *loops;
	uint64_t stack[DEEPEST];
	unsigned depth;
	unsigned long calls;
	unsigned long found_at;
	/* Since it was found. */
	unsigned opened;
	unsigned outside;
	bool last_outside;
	uint64_t latest[DEEPEST + 1]; /* frames of the call before, innermost first */
	unsigned latest_count;
} run;

static inline void begin(void)
{
	free(run.loops);
	memset(&run, 0, sizeof(run));
	run.loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	TEST_NEED(run.loops);
	run.stack[run.depth++] = 0x100;
}

/* What the shim does once the step is known. */
static inline void mark(const uint64_t *frames)
{
	const bool anchor = tfs_loops_opens(run.loops, frames, run.depth + 1);
	const bool same = anchor && run.latest_count > 0 &&
			  tfs_loops_same_place(
				  run.loops, frames, run.depth + 1, run.latest, run.latest_count);

	run.last_outside = tfs_loops_outside(run.loops, frames, run.depth + 1);
	run.outside += run.last_outside;
	run.opened += anchor && !same;
	run.latest_count = run.depth + 1;
	memcpy(run.latest, frames, run.latest_count * sizeof(frames[0]));
}

/* A call of the library from line `line` of the running function. */
static inline void call(unsigned line, const struct tfs_loops_operand *operands, unsigned count)
{
	uint64_t frames[DEEPEST + 1];
	uint32_t site = 2166136261u;

	run.stack[run.depth] = (run.stack[run.depth - 1] << 8 & 0xffff0000u) + 0x1000u + line;
	for (unsigned i = 0; i <= run.depth; i++) {
		frames[i] = run.stack[run.depth - i];
		site = (site ^ (uint32_t)frames[i]) * 16777619u;
	}
	run.calls++;
	if (run.found_at != 0)
		mark(frames);
	else if (tfs_loops_feed(run.loops, site, frames, run.depth + 1, operands, count))
		run.found_at = run.calls;
}

static inline void use(unsigned line, uint64_t one, int how_one, uint64_t other, int how_other)
{
	const struct tfs_loops_operand operands[] = {
		{one, (how_one & READ) != 0, (how_one & WRITE) != 0, how_one == MAYBE},
		{other, (how_other & READ) != 0, (how_other & WRITE) != 0, how_other == MAYBE}};

	call(line, operands, other != 0 ? 2 : 1);
}

static inline void enter(unsigned line)
{
	run.stack[run.depth] = run.stack[run.depth - 1] * 16 + line;
	run.depth++;
}

static inline void leave(void)
{
	run.depth--;
}

#define WEIGHT(i) (0x1000000u + 0x1000u * (i))
#define GRAD(i) (0x2000000u + 0x1000u * (i))
#define ACT(i) (0x3000000u + 0x1000u * (i))
#define INPUT 0x4000000u
#define LOSS 0x4100000u

#endif
