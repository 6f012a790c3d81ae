/* SPDX-License-Identifier: MIT */
/* Programs that update no weights: which loop is the one with most calls, and where it opens. */
#include "tests/unit/steps/made_up_program.h"

/* One batch through so many layers; its images are at another place each time. */
static void infer(unsigned layers, unsigned batch)
{
	enter(1);
	use(1, INPUT, WRITE, 0x7000000u + batch, READ);
	for (unsigned i = 0; i < layers; i++)
		use(2, WEIGHT(i), READ, ACT(i), WRITE);
	use(3, ACT(layers - 1), READ, 0, 0);
	leave();
}

static void batches(unsigned line, unsigned count, unsigned layers)
{
	enter(line);
	for (unsigned i = 0; i < count; i++)
		infer(layers, i);
	leave();
}

/* Iterations that open in so many more rounds of `go_on`; 0 = there is no such loop. */
static unsigned opened_in(void (*go_on)(unsigned line, unsigned count, unsigned layers),
	unsigned line, unsigned count, unsigned layers)
{
	TEST_EQ(run.found_at, 0);
	if (!tfs_loops_dominate(run.loops))
		return 0;
	TEST_TRUE(tfs_loops_dominant(run.loops));
	TEST_TRUE(tfs_loops_doubtful(run.loops));
	run.found_at = run.calls;
	go_on(line, count, layers);
	return run.opened;
}

/* Not the loop over layers, though that goes round more often. */
static void test_inference(void)
{
	for (unsigned layers = 1; layers <= 64; layers *= 4) {
		begin();
		batches(1, 40, layers);
		TEST_EQ(opened_in(batches, 1, 40, layers), 40);
		TEST_EQ(run.outside, 0);
	}
}

/* Epochs are too few, or each is an iteration; never is it a part of a batch. */
static void epochs(unsigned line, unsigned count, unsigned layers)
{
	enter(line);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned batch = 0; batch < 30; batch++)
			infer(layers, batch);
		enter(5);
		use(1, LOSS, READ, 0, 0);
		leave();
	}
	leave();
}

static void test_epochs(void)
{
	begin();
	epochs(1, 10, 4);
	TEST_EQ(opened_in(epochs, 1, 10, 4), 300);
	begin();
	use(3, INPUT, WRITE, 0, 0);
	for (unsigned i = 0; i < 20; i++)
		batches(2, 30, 4);
	TEST_TRUE(tfs_loops_dominate(run.loops));
}

/* One loop before another: which is the one with most calls. */
static void test_two(void)
{
	begin();
	batches(1, 30, 4);
	batches(2, 100, 4);
	TEST_EQ(opened_in(batches, 2, 40, 4), 40);
	/* What comes next is none of it. */
	batches(3, 10, 4);
	TEST_EQ(run.opened, 40);
	TEST_EQ(run.outside, 60);
	begin();
	batches(1, 40, 4);
	batches(2, 41, 4);
	batches(3, 40, 4);
	TEST_TRUE(!tfs_loops_dominate(run.loops));
}

static void test_none(void)
{
	begin();
	TEST_TRUE(!tfs_loops_dominate(run.loops));
	/* Too few rounds. */
	batches(1, 15, 4);
	TEST_TRUE(!tfs_loops_dominate(run.loops));
	/* A call alone, again and again. */
	begin();
	for (unsigned i = 0; i < 300; i++)
		use(1, INPUT + 64 * i, WRITE, 0, 0);
	TEST_TRUE(!tfs_loops_dominate(run.loops));
	/* Calls that touch nothing. */
	begin();
	for (unsigned i = 0; i < 300; i++) {
		call(1, NULL, 0);
		call(2, NULL, 0);
	}
	TEST_TRUE(!tfs_loops_dominate(run.loops));
}

static struct tfs_loops *take(void)
{
	struct tfs_loops *loops = run.loops;

	run.loops = NULL;
	return loops;
}

/* What was found in a training of so many layers, of which the updates are known or may be. */
static struct tfs_loops *train(unsigned layers, int update)
{
	begin();
	enter(4);
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned j = 0; j < layers; j++)
			use(1, WEIGHT(j), READ, GRAD(j), WRITE);
		for (unsigned j = 0; j < layers; j++)
			use(2, GRAD(j), READ, WEIGHT(j), update);
	}
	TEST_TRUE(run.found_at != 0 && !tfs_loops_dominant(run.loops));
	TEST_EQ(tfs_loops_doubtful(run.loops), update == MAYBE);
	return take();
}

/* What updates weights is preferred, however short it is; what may update some, where it is longer.
 */
static void test_preferred(void)
{
	begin();
	batches(1, 40, 64);
	TEST_TRUE(tfs_loops_dominate(run.loops));
	struct tfs_loops *served = take(), *known = train(1, READ | WRITE),
			 *shorter = train(4, MAYBE), *longer = train(8, MAYBE);

	TEST_TRUE(tfs_loops_prefers(served, known));
	TEST_TRUE(tfs_loops_prefers(served, shorter));
	TEST_TRUE(tfs_loops_prefers(longer, known));
	TEST_TRUE(tfs_loops_prefers(shorter, longer));
	TEST_TRUE(!tfs_loops_prefers(longer, shorter));
	TEST_TRUE(!tfs_loops_prefers(shorter, shorter));
	free(served);
	free(known);
	free(shorter);
	free(longer);
}

/* Hope outlasts the log. */
static void test_hope(void)
{
	begin();
	batches(1, 40, 4);
	TEST_TRUE(tfs_loops_hopeless(run.loops));
	tfs_loops_restart(run.loops);
	TEST_EQ(tfs_loops_logged(run.loops), 0);
	TEST_TRUE(tfs_loops_hopeless(run.loops));
	use(1, GRAD(0), READ, WEIGHT(0), READ | WRITE);
	TEST_EQ(tfs_loops_logged(run.loops), 1);
	TEST_TRUE(!tfs_loops_hopeless(run.loops));
	tfs_loops_restart(run.loops);
	TEST_TRUE(!tfs_loops_hopeless(run.loops));
}

int main(void)
{
	test_inference();
	test_epochs();
	test_two();
	test_none();
	test_hope();
	test_preferred();
	free(run.loops);
	return test_result();
}
