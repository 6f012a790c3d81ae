/* SPDX-License-Identifier: MIT */
/* Loops that the compiler or the programmer unrolled: a step is an update, not an iteration. */
#include "tests/unit/steps/made_up_program.h"

#define LAYERS 5u
#define ITERATIONS 60u
/* A range is carried through so many iterations until it is known for one, and some more. */
#define LATEST (TFS_LOOPS_CONFIRM + 6u)

static void forward(unsigned line, unsigned weights)
{
	for (unsigned i = 0; i < LAYERS; i++)
		use(line, WEIGHT(weights + i), READ, ACT(i), WRITE);
}

static void backward(unsigned line)
{
	for (unsigned i = LAYERS; i-- > 0;)
		use(line, ACT(i), READ, GRAD(i), WRITE);
}

static void update(unsigned line, unsigned weights)
{
	for (unsigned i = 0; i < LAYERS; i++)
		use(line, GRAD(i), READ, WEIGHT(weights + i), READ | WRITE);
}

static void pass(unsigned line, unsigned input, unsigned weights)
{
	use(line, INPUT + 0x1000u * (input % 2), WRITE, 0, 0);
	forward(line + 1, weights);
	backward(line + 2);
}

static void step(unsigned line, unsigned input, unsigned weights)
{
	pass(line, input, weights);
	update(line + 3, weights);
	use(line + 4, LOSS, READ, 0, 0);
}

/* Each copy of the body in the loop's own function, or a call of a function that is it. */
static void test_unrolled(void)
{
	for (unsigned times = 2; times <= 16; times += 7) {
		for (unsigned inlined = 0; inlined < 2; inlined++) {
			begin();
			for (unsigned i = 0; i < ITERATIONS; i++) {
				for (unsigned copy = 0; copy < times; copy++) {
					if (!inlined)
						enter(1 + copy);
					step(inlined ? 1 + 5 * copy : 1, i * times + copy, 0);
					if (!inlined)
						leave();
				}
			}
			if (!TEST_IN(run.opened, times * (ITERATIONS - LATEST),
				    times * (ITERATIONS - TFS_LOOPS_CONFIRM + 1)))
				printf("  %u times%s\n", times, inlined ? ", inlined" : "");
			TEST_EQ(run.outside, 0);
			TEST_EQ(tfs_loops_before(run.loops) % times, 0);
			TEST_IN(tfs_loops_before(run.loops) + run.opened, times * ITERATIONS,
				times * (ITERATIONS + 1));
		}
	}
}

enum trap {
	ONE_UPDATE, /* two passes, and then one update */
	DECAY,      /* the weights are scaled, and then updated */
	ASCENT,     /* up, a second pass, down, and the update */
	OTHER_NET,  /* another net's step is half of the iteration */
	HEADS,      /* an update of all, then one of the last layers in a second, shorter pass */
	APART,      /* the steps of two nets that have only the first layer in common */
	TRAPS
};

/* A step of a net of which the first layer is the other's. */
static void step_beside(unsigned line, unsigned input)
{
	use(line, INPUT + 0x1000u * (input % 2), WRITE, 0, 0);
	for (unsigned i = 0; i < LAYERS; i++)
		use(line + 1, WEIGHT(i > 0 ? 100 + i : 0), READ, ACT(50 + i), WRITE);
	for (unsigned i = LAYERS; i-- > 0;)
		use(line + 2, ACT(50 + i), READ, GRAD(50 + i), WRITE);
	for (unsigned i = 0; i < LAYERS; i++)
		use(line + 3, GRAD(50 + i), READ, WEIGHT(i > 0 ? 100 + i : 0), READ | WRITE);
	use(line + 4, LOSS, READ, 0, 0);
}

static void run_trap(enum trap trap, unsigned i)
{
	if (trap == APART) {
		step(1, i, 0);
		step_beside(21, i);
		return;
	}
	pass(1, i, 0);
	if (trap == ASCENT)
		update(4, 0);
	if (trap == ONE_UPDATE || trap == ASCENT)
		pass(5, i + 1000, 0);
	if (trap == ASCENT || trap == DECAY)
		update(8, 0);
	update(9, 0);
	if (trap == OTHER_NET)
		step(10, i + 1000, 100);
	if (trap == HEADS) {
		forward(15, 0);
		update(16, 0);
	}
	use(20, LOSS, READ, 0, 0);
}

/* What is one step, for all that is twice in it. */
static void test_traps(void)
{
	for (enum trap trap = 0; trap < TRAPS; trap++) {
		begin();
		for (unsigned i = 0; i < ITERATIONS; i++)
			run_trap(trap, i);
		if (!TEST_IN(run.opened, ITERATIONS - LATEST, ITERATIONS - TFS_LOOPS_CONFIRM))
			printf("  trap %d\n", (int)trap);
	}
}

int main(void)
{
	test_unrolled();
	test_traps();
	free(run.loops);
	return test_result();
}
