/* SPDX-License-Identifier: MIT */
/*
 * The search for the training step, on a made-up trainer whose calls all come from one function:
 * some straight code, then forward, backward and an inner loop over the weights, again and again.
 */
#include "shim/steps/loops/loops.h"
#include "shim/steps/loops/graphs.h"

#include "tests/test.h"

#define PARAMETERS 8u
#define CALLS 24u   /* of one step, one behind the other */
#define START 0x40u /* return address of the first call in the loop */
#define WEIGHTS 0x10000u

#define LAST 5 /* the step's last call comes so far behind the update */

struct trainer {
	struct tfs_loops *loops;
	unsigned straight; /* calls before the loop */
	unsigned layout;   /* seed: the compiler put the function's code in some other order */
	unsigned unseen;   /* calls of the first step that were not fed */
	bool updates;
};

/* Where the compiler put what comes there in the source: any order, 0 is the source's. */
static uint64_t laid_out(const struct trainer *trainer, uint64_t address)
{
	return trainer->layout != 0 ? 0x1000 + (address * 2 * trainer->layout + 77) % 509 : address;
}

static bool feed(const struct trainer *trainer, uint64_t address, uint64_t range, bool writes)
{
	const uint64_t frames[] = {laid_out(trainer, address), 0x20, 0x10};
	const struct tfs_loops_operand operand = {range, true, writes, false};

	return tfs_loops_feed(trainer->loops, (uint32_t)address, frames, 3, &operand, range != 0);
}

/* Forward reads all weights, backward the half of them; the rest is behind that. */
static uint64_t range_of(unsigned call)
{
	if (call < PARAMETERS)
		return WEIGHTS + call;
	return call < PARAMETERS + PARAMETERS / 2 ? WEIGHTS + call % PARAMETERS : 0;
}

/* At last one call updates each weight in turn, and one more follows. */
static bool run_step(const struct trainer *trainer, unsigned first)
{
	const uint64_t base = START + trainer->straight, update = base + CALLS;

	for (unsigned i = first; i < CALLS; i++)
		if (feed(trainer, base + i, range_of(i), false))
			return true;
	for (unsigned i = 0; i < PARAMETERS; i++)
		if (feed(trainer, update, WEIGHTS + i, trainer->updates))
			return true;
	return feed(trainer, update + LAST, 0, false);
}

/* Steps until it was found; 0 = not within 40. */
static unsigned search(struct trainer *trainer)
{
	unsigned found = 0;

	trainer->loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	TEST_NEED(trainer->loops);
	for (unsigned i = 0; i < trainer->straight; i++)
		feed(trainer, START + i, 0, false);
	for (unsigned i = 0; i < 40 && !found; i++)
		if (run_step(trainer, i ? 0 : trainer->unseen))
			found = i + 1;
	return found;
}

static bool opens(const struct trainer *trainer, uint64_t address)
{
	const uint64_t frames[] = {laid_out(trainer, address), 0x20, 0x10};

	return tfs_loops_opens(trainer->loops, frames, 3);
}

static void test_plain(void)
{
	struct trainer trainer = {.straight = 10, .updates = true};

	TEST_IN(search(&trainer), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 6);
	TEST_TRUE(opens(&trainer, START + 10));
	TEST_TRUE(!opens(&trainer, START + 11));
	TEST_TRUE(!opens(&trainer, START + 9));
	free(trainer.loops);
}

/* Whatever the order of addresses: control comes by the same places again. */
static void test_layouts(void)
{
	for (unsigned layout = 1; layout <= 50; layout++) {
		struct trainer trainer = {.straight = 10, .updates = true, .layout = layout};

		if (!TEST_IN(search(&trainer), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 6) ||
			!TEST_TRUE(opens(&trainer, START + 10)) ||
			!TEST_TRUE(!opens(&trainer, START + 11)))
			printf("  laid out by %u\n", layout);
		free(trainer.loops);
	}
}

/* More calls before the loop than a function's memory holds. */
static void test_long_start(void)
{
	struct trainer trainer = {.straight = 400, .updates = true};

	TEST_IN(search(&trainer), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 6);
	TEST_TRUE(opens(&trainer, START + 400));
	free(trainer.loops);
}

/* Stacks may be known only from the middle of a step on: any call of the loop can be the first. */
static void test_middle(void)
{
	for (unsigned unseen = 1; unseen <= CALLS; unseen++) {
		struct trainer trainer = {.unseen = unseen, .updates = true};

		if (!TEST_IN(search(&trainer), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 6))
			printf("  from call %u of the step on\n", unseen);
		free(trainer.loops);
	}
}

/* An evaluation that was inlined lies between the step's own calls, and was never part of one. */
static void test_places(void)
{
	struct trainer trainer = {.straight = 10, .updates = true};
	const uint64_t update = START + 10 + CALLS;

	TEST_TRUE(search(&trainer) > 0);
	for (uint64_t address = START + 10; address <= update + LAST; address++) {
		const uint64_t frames[] = {address, 0x20, 0x10};
		const bool own = address <= update || address == update + LAST;

		TEST_TRUE(!tfs_loops_outside(trainer.loops, frames, 3));
		TEST_EQ(tfs_loops_unknown(trainer.loops, frames, 3), !own);
	}
	const uint64_t behind[] = {update + LAST + 1, 0x20, 0x10};
	TEST_TRUE(tfs_loops_outside(trainer.loops, behind, 3));
	const uint64_t elsewhere[] = {START + 10, 0x21, 0x10};
	TEST_TRUE(tfs_loops_outside(trainer.loops, elsewhere, 3));
	free(trainer.loops);
}

static void test_inference(void)
{
	struct trainer trainer = {.straight = 10};

	TEST_EQ(search(&trainer), 0);
	TEST_TRUE(tfs_loops_hopeless(trainer.loops));
	free(trainer.loops);
}

static bool feed_move(struct tfs_loops *loops, uint64_t address, uint64_t from, uint64_t to)
{
	const uint64_t frames[] = {address, 0x20, 0x10};
	const struct tfs_loops_operand operands[] = {
		{WEIGHTS + from, true, false, false}, {WEIGHTS + to, false, true, false}};

	return tfs_loops_feed(loops, (uint32_t)address, frames, 3, operands, 2);
}

/* Steps until it was found in a trainer whose new weights are in other memory each time: by turns
 * in two places, if `turns`. */
static unsigned search_elsewhere(bool turns)
{
	struct tfs_loops *loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	unsigned found = 0;

	TEST_NEED(loops);
	for (unsigned i = 0; i < 40 && !found; i++) {
		const uint64_t old = turns ? i % 2 : i, new = turns ? !old : i + 1;

		for (unsigned layer = 0; layer < PARAMETERS && !found; layer++)
			if (feed_move(loops, START + layer, 100 * layer + old, 10000 + layer))
				found = i + 1;
		for (unsigned layer = 0; layer < PARAMETERS && !found; layer++)
			if (feed_move(loops, START + PARAMETERS + layer, 100 * layer + old,
				    100 * layer + new))
				found = i + 1;
	}
	free(loops);
	return found;
}

/* What an update reads beside the weights: the same in each step, written by another call before,
 * or elsewhere each time. */
enum fed { SAME, WRITTEN, MOVED };

static bool search_fed(enum fed fed)
{
	struct tfs_loops *loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	bool found = false;

	TEST_NEED(loops);
	for (unsigned i = 0; i < 100 && !found; i++) {
		const uint64_t update[] = {START + 1, 0x20, 0x10};
		const struct tfs_loops_operand operands[] = {{WEIGHTS, true, true, true},
			{WEIGHTS + (fed == MOVED ? 10 + i : 9), true, true, true}};

		if (fed == WRITTEN)
			found = feed_move(loops, START, 8, 9);
		for (unsigned j = 0; j < 3 && !found; j++)
			found = feed_move(loops, START + 2 + j, 0, 20 + j);
		found = found || tfs_loops_feed(loops, (uint32_t)update[0], update, 3, operands, 2);
	}
	free(loops);
	return found;
}

static void test_fed(void)
{
	TEST_TRUE(!search_fed(SAME));
	TEST_TRUE(search_fed(WRITTEN));
	TEST_TRUE(search_fed(MOVED));
}

/* Layers that hand on what they make by turns in two places: nothing is carried to the next batch,
 * which writes the first of them. */
static void test_turns_within(void)
{
	struct tfs_loops *loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	bool found = false;

	TEST_NEED(loops);
	for (unsigned i = 0; i < 200; i++) {
		found = found || feed_move(loops, START, 5000 + i, 0);
		for (unsigned layer = 0; layer < 4; layer++)
			found = found || feed_move(loops, START + 1, layer % 2, (layer + 1) % 2);
		found = found || feed_move(loops, START + 2, 0, 9000);
	}
	TEST_TRUE(!found);
	free(loops);
}

static bool feed_plain(struct tfs_loops *loops, uint64_t address)
{
	const uint64_t frames[] = {address, 0x20, 0x10};

	return tfs_loops_feed(loops, (uint32_t)address, frames, 3, NULL, 0);
}

static struct tfs_graphs *graphs;

static bool launch(struct tfs_loops *loops, uint64_t address, uint64_t executable)
{
	const uint64_t frames[] = {address, 0x20, 0x10};

	if (tfs_loops_feed(loops, (uint32_t)address, frames, 3, NULL, 0))
		return true;
	tfs_loops_launched(loops, (uint32_t)address, frames, 3, graphs, executable);
	return tfs_loops_look(loops);
}

/* What one layer's pass does, in the graph that is captured. */
static void captured(uint32_t site, unsigned layer, bool writes)
{
	const struct tfs_loops_operand operand = {WEIGHTS + layer, true, writes, false};

	tfs_graphs_call(graphs, 1, 7, site, &operand, 1);
}

/* A capture from another place of the program: of a forward pass, and of an update if `updates`. */
static void capture(uint64_t graph, bool reads, bool updates)
{
	tfs_graphs_capture(graphs, 1, 7, 0);
	for (unsigned i = 0; i < PARAMETERS; i++)
		if (reads)
			captured(0x1001, i, false);
	for (unsigned i = 0; i < PARAMETERS; i++)
		if (updates)
			captured(0x1002, i, true);
	tfs_graphs_captured(graphs, 1, 7, graph);
	tfs_graphs_made(graphs, graph + 1, graph);
}

/* Steps until it was found where a step launches one graph, or two; 0 = never. */
static unsigned search_graphs(uint64_t first, uint64_t second)
{
	struct tfs_loops *loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	unsigned found = 0;

	graphs = tfs_graphs_init(calloc(1, tfs_graphs_bytes()));
	TEST_NEED(loops && graphs);
	/* The same handle was another graph's before. */
	capture(0x500, false, true);
	capture(0x500, true, true);
	capture(0x600, true, false);
	capture(0x700, false, true);
	for (unsigned i = 0; i < 40 && !found; i++)
		if (feed_plain(loops, START) || launch(loops, START + 1, first) ||
			(second && launch(loops, START + 2, second)) ||
			feed_plain(loops, START + 3))
			found = i + 1;
	if (found) {
		const uint64_t frames[] = {START, 0x20, 0x10};

		TEST_TRUE(tfs_loops_opens(loops, frames, 3));
	}
	free(loops);
	free(graphs);
	return found;
}

static void test_graphs(void)
{
	TEST_IN(search_graphs(0x501, 0), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 4);
	TEST_IN(search_graphs(0x601, 0x701), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 4);
	/* An evaluation, one that nobody saw captured, a graph instead of an executable one. */
	TEST_EQ(search_graphs(0x601, 0), 0);
	TEST_EQ(search_graphs(0x801, 0), 0);
	TEST_EQ(search_graphs(0x501 + 0x1000, 0x601), 0);
}

int main(void)
{
	test_graphs();
	TEST_IN(search_elsewhere(true), TFS_LOOPS_CONFIRM, TFS_LOOPS_CONFIRM + 8);
	TEST_EQ(search_elsewhere(false), 0);
	test_turns_within();
	test_fed();
	test_plain();
	test_layouts();
	test_long_start();
	test_middle();
	test_places();
	test_inference();
	return test_result();
}
