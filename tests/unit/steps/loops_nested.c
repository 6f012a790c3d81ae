/* SPDX-License-Identifier: MIT */
/*
 * The search for the training step, on trainers that are made of functions and loops within loops:
 * which loop is taken, and what counts as inside it.
 */
#include "tests/unit/steps/made_up_program.h"

#define WARM 16u

/* Steps, of which the first `warm` may pass before the step is known. */
static void expect(const char *what, unsigned steps, unsigned warm)
{
	if (!TEST_TRUE(run.found_at != 0) || !TEST_IN(run.opened, steps - warm, steps - 1))
		printf("  in: %s, found at call %lu of %lu\n", what, run.found_at, run.calls);
}

static void forward(unsigned layers)
{
	for (unsigned i = 0; i < layers; i++) {
		use(1, WEIGHT(i), READ, ACT(i), READ);
		use(2, ACT(i + 1), WRITE, 0, 0);
	}
}

static void backward(unsigned layers)
{
	for (unsigned i = layers; i-- > 0;)
		use(3, GRAD(i), READ | WRITE, ACT(i), READ);
}

/* One helper updates every parameter. */
static void update(unsigned layers)
{
	for (unsigned i = 0; i < layers; i++) {
		enter(4);
		use(1, WEIGHT(i), READ | WRITE, GRAD(i), READ);
		leave();
	}
}

static void step(unsigned layers)
{
	use(1, INPUT, WRITE, 0, 0);
	enter(2);
	forward(layers);
	leave();
	enter(3);
	backward(layers);
	leave();
	enter(4);
	update(layers);
	leave();
}

static void test_plain(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++) {
		enter(1);
		step(3);
		leave();
	}
	expect("plain", 60, WARM);
	TEST_EQ(run.outside, 0);
}

/* Epochs of batches, each in a function, with an evaluation after each epoch. */
static void test_epochs(void)
{
	unsigned evaluations = 0;

	begin();
	for (unsigned epoch = 0; epoch < 6; epoch++) {
		enter(1);
		for (unsigned i = 0; i < 20; i++) {
			enter(2);
			step(3);
			leave();
		}
		leave();
		enter(5);
		for (unsigned i = 0; i < 12; i++) {
			enter(2);
			forward(3);
			leave();
			use(3, ACT(3), READ, 0, 0);
			evaluations += run.found_at != 0 && run.last_outside;
		}
		leave();
	}
	expect("epochs", 120, WARM);
	TEST_EQ(evaluations, 72);
}

/* The same, all in one function. */
static void test_inlined_epochs(void)
{
	begin();
	for (unsigned epoch = 0; epoch < 6; epoch++) {
		for (unsigned i = 0; i < 20; i++) {
			enter(2);
			step(3);
			leave();
		}
		enter(9);
		forward(3);
		leave();
	}
	expect("inlined epochs", 120, WARM);
}

/* Gradients added up over four micro-batches: the update makes the step. */
static void test_micro_batches(void)
{
	begin();
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned micro = 0; micro < 4; micro++) {
			use(1, INPUT, WRITE, 0, 0);
			enter(2);
			forward(3);
			leave();
			enter(3);
			backward(3);
			leave();
			use(4, LOSS, READ | WRITE, 0, 0);
		}
		use(5, LOSS, READ, 0, 0);
		enter(6);
		update(3);
		leave();
		for (unsigned layer = 0; layer < 3; layer++)
			use(7, GRAD(layer), WRITE, 0, 0);
	}
	expect("micro-batches", 40, WARM);
}

/* A loss is read every tenth step, and in the middle of the loop a validation every twentieth. */
static void test_conditions(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		if (i % 20 == 0) {
			enter(1);
			forward(3);
			leave();
		}
		enter(2);
		step(3);
		leave();
		use(3, LOSS, READ | WRITE, 0, 0);
		if (i % 10 == 9)
			use(4, LOSS, READ, 0, 0);
	}
	expect("conditions", 100, WARM + 8);
}

/* Loops over many layers that hand one buffer on, changed in place by one kernel and read by the
 * next: they go round more often than it takes to confirm a step, within the first one. */
static void test_layers(void)
{
	const unsigned layers = 24;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		use(1, INPUT, WRITE, 0, 0);
		enter(2);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(1, WEIGHT(layer), READ, ACT(layer % 2), READ);
			use(2, ACT((layer + 1) % 2), WRITE, 0, 0);
			use(3, ACT((layer + 1) % 2), READ | WRITE, 0, 0);
		}
		leave();
		enter(3);
		backward(layers);
		leave();
		enter(4);
		update(layers);
		leave();
	}
	expect("layers", 40, WARM);
}

/* Nothing but kernels of its own, of which nobody knows what they do with their pointers; one
 * scratch buffer serves all layers; one kernel updates all weights, which are one range. */
static void test_own_kernels(void)
{
	const unsigned layers = 12;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		use(1, WEIGHT(0), MAYBE, INPUT, MAYBE);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(2, ACT(100), MAYBE, WEIGHT(3 * layer + 1), MAYBE);
			use(3, ACT(100), MAYBE, WEIGHT(3 * layer + 2), MAYBE);
			use(4, ACT(layer), MAYBE, WEIGHT(3 * layer + 3), MAYBE);
		}
		use(5, LOSS, MAYBE, ACT(100), MAYBE);
		for (unsigned layer = layers; layer-- > 0;) {
			use(6, ACT(101), MAYBE, GRAD(3 * layer + 3), MAYBE);
			use(7, ACT(101), MAYBE, GRAD(3 * layer + 2), MAYBE);
			use(8, ACT(101), MAYBE, GRAD(3 * layer + 1), MAYBE);
			use(9, ACT(101), MAYBE, ACT(layer), MAYBE);
		}
		use(10, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
	}
	expect("own kernels", 40, WARM);
}

/* The same in functions, each with its loop over the layers. */
static void test_own_functions(void)
{
	const unsigned layers = 48;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		enter(1);
		use(1, WEIGHT(0), MAYBE, INPUT, MAYBE);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(2, ACT(100), MAYBE, WEIGHT(2 * layer + 1), MAYBE);
			use(3, ACT(100), MAYBE, WEIGHT(2 * layer + 2), MAYBE);
		}
		leave();
		enter(2);
		for (unsigned layer = layers; layer-- > 0;) {
			use(6, ACT(101), MAYBE, GRAD(2 * layer + 2), MAYBE);
			use(7, ACT(101), MAYBE, GRAD(2 * layer + 1), MAYBE);
		}
		leave();
		enter(3);
		use(1, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
		leave();
	}
	expect("own functions", 40, WARM);
}

/* Two inputs by turns, as those do who copy ahead. */
static void test_double_buffer(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++) {
		use(1, INPUT + i % 2 * 64, MAYBE, 0, 0);
		use(2, WEIGHT(0), MAYBE, INPUT + i % 2 * 64, MAYBE);
		use(3, ACT(i % 2), MAYBE, WEIGHT(0), MAYBE);
		use(4, GRAD(0), MAYBE, ACT(i % 2), MAYBE);
		use(5, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
	}
	expect("double buffer", 60, WARM);
}

/* A function that first learns from what it did before, and then goes through its layers: what goes
 * round from one update to the next is its caller's loop. */
static void update_first(void)
{
	use(1, INPUT, WRITE, 0, 0);
	enter(2);
	use(1, WEIGHT(0), READ | WRITE, ACT(0), READ);
	for (unsigned i = 0; i < 6; i++)
		use(2, WEIGHT(0), READ, ACT(0), WRITE);
	leave();
}

static void test_update_first(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++)
		update_first();
	expect("update first", 60, WARM);
	begin();
	for (unsigned epoch = 0; epoch < 6; epoch++) {
		enter(1);
		for (unsigned i = 0; i < 20; i++)
			update_first();
		leave();
		use(3, LOSS, READ, 0, 0);
	}
	expect("update first in epochs", 120, WARM);
}

/* Nothing is learned: no step, whatever loops there are. */
static void test_inference(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		use(1, INPUT, WRITE, 0, 0);
		enter(2);
		forward(20);
		leave();
		use(3, ACT(20), READ, 0, 0);
	}
	TEST_EQ(run.found_at, 0);
}

int main(void)
{
	test_plain();
	test_epochs();
	test_inlined_epochs();
	test_micro_batches();
	test_conditions();
	test_layers();
	test_own_kernels();
	test_own_functions();
	test_double_buffer();
	test_update_first();
	test_inference();
	free(run.loops);
	return test_result();
}
