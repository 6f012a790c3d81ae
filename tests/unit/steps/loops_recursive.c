/* SPDX-License-Identifier: MIT */
/* A recursion that is the training loop, and recursions that are only part of a step. */
#include "shim/steps/loops/graphs.h"
#include "shim/steps/loops/loops.h"

#include "tests/test.h"

#define STEPS 100u
#define LAYERS 4u
#define DEEPEST 256u
#define WEIGHTS 0x10000u
#define MAIN 0x10u

static struct tfs_loops *loops;
static struct {
	uint64_t frames[DEEPEST]; /* outermost first */
	unsigned count;
} stack;
static struct tfs_graphs *graphs;
static unsigned opened, outside;
static bool at_anchor;

static void begin(void)
{
	free(loops);
	loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	TEST_NEED(loops);
	stack.count = 0;
	stack.frames[stack.count++] = MAIN;
	opened = outside = 0;
	at_anchor = false;
}

/* The innermost frames are known, as in the traced process. `graph`: launched by the call, 0 =
 * none. */
static void call_graph(uint64_t address, uint64_t range, bool writes, uint64_t graph)
{
	const struct tfs_loops_operand operand = {range, true, writes, false};
	const unsigned all = stack.count + 1;
	uint64_t frames[TFS_LOOPS_FRAMES] = {address};
	uint32_t count = 1, site = 2166136261u;

	while (count < TFS_LOOPS_FRAMES && count < all) {
		frames[count] = stack.frames[stack.count - count];
		count++;
	}
	for (uint32_t i = 0; i < count; i++)
		site = (site ^ (uint32_t)frames[i]) * 16777619u;
	if (!tfs_loops_doubtful(loops) && tfs_loops_before(loops) != 0) {
		const bool anchor = tfs_loops_opens(loops, frames, count);

		opened += anchor && !at_anchor;
		outside += tfs_loops_outside(loops, frames, count);
		at_anchor = anchor;
	} else if (!tfs_loops_feed(loops, site, frames, count, &operand, range != 0) && graph) {
		tfs_loops_launched(loops, site, frames, count, graphs, graph);
		tfs_loops_look(loops);
	}
}

static void call(uint64_t address, uint64_t range, bool writes)
{
	call_graph(address, range, writes, 0);
}

static void enter(uint64_t address)
{
	TEST_NEED(stack.count < DEEPEST);
	stack.frames[stack.count++] = address;
}

static void leave(void)
{
	stack.count--;
}

/* Called from one place of whatever it is. */
static void step(void)
{
	enter(0x700);
	call(0x801, 0, false);
	for (unsigned i = 0; i < LAYERS; i++)
		call(0x802, WEIGHTS + i, false);
	for (unsigned i = 0; i < LAYERS; i++)
		call(0x803, WEIGHTS + i, true);
	leave();
}

/* A function that calls itself, or others that call it again. */
static void recurse(unsigned left, unsigned functions)
{
	if (left == 0)
		return;
	step();
	for (unsigned i = 0; i < functions; i++)
		enter(0x200 + i);
	recurse(left - 1, functions);
	for (unsigned i = 0; i < functions; i++)
		leave();
}

/* However deep it is, and with more frames than are known of a stack. */
static void test_recursion(void)
{
	for (unsigned functions = 1; functions <= 2; functions++) {
		begin();
		enter(0x20);
		recurse(STEPS, functions);
		TEST_IN(opened, STEPS - TFS_LOOPS_CONFIRM - 6, STEPS - TFS_LOOPS_CONFIRM);
		TEST_EQ(outside, 0);
		leave();
		/* The same from elsewhere is another loop. */
		enter(0x21);
		recurse(3, functions);
		TEST_EQ(outside, 3 * (1 + 2 * LAYERS));
	}
}

/* A net that is a tree: forward goes down to its leaves, each a layer. */
static void walk(unsigned depth, unsigned leaf, bool updates)
{
	if (depth == 0) {
		call(updates ? 0x903 : 0x902, WEIGHTS + leaf, updates);
		return;
	}
	for (unsigned side = 0; side < 2; side++) {
		enter(0x300 + side);
		walk(depth - 1, 2 * leaf + side, updates);
		leave();
	}
}

/* A list that is walked by a recursion: its stack looks like a loop's, round and round. */
static void follow(unsigned left, bool updates)
{
	if (left == 0)
		return;
	call(updates ? 0x905 : 0x904, WEIGHTS + left, updates);
	enter(0x310);
	follow(left - 1, updates);
	leave();
}

static void test_traps(void)
{
	for (unsigned list = 0; list < 2; list++) {
		begin();
		enter(0x20);
		for (unsigned i = 0; i < STEPS; i++) {
			call(0x601, 0, false);
			for (unsigned pass = 0; pass < 2; pass++) {
				enter(0x602 + pass);
				if (list)
					follow(20, pass);
				else
					walk(4, 0, pass);
				leave();
			}
			call(0x604, 0, false);
		}
		TEST_IN(opened, STEPS - TFS_LOOPS_CONFIRM - 6, STEPS - TFS_LOOPS_CONFIRM);
		TEST_EQ(outside, 0);
	}
}

/* A recursion, each level of which launches a step that was captured. */
static void relaunch(unsigned left)
{
	if (left == 0)
		return;
	call(0x801, 0, false);
	call_graph(0x802, 0, false, 101);
	enter(0x200);
	relaunch(left - 1);
	leave();
}

static void test_launches(void)
{
	graphs = tfs_graphs_init(calloc(1, tfs_graphs_bytes()));
	TEST_NEED(graphs);
	for (uint32_t i = 0; i < 2 * LAYERS; i++) {
		const struct tfs_loops_operand operand = {
			WEIGHTS + i % LAYERS, true, i >= LAYERS, false};

		tfs_graphs_node(graphs, 100, i < LAYERS ? 0x1001 : 0x1002, &operand, 1);
	}
	tfs_graphs_made(graphs, 101, 100);
	begin();
	enter(0x20);
	relaunch(STEPS);
	TEST_IN(opened, STEPS - TFS_LOOPS_CONFIRM - 6, STEPS - TFS_LOOPS_CONFIRM);
	TEST_EQ(outside, 0);
	free(graphs);
}

int main(void)
{
	test_recursion();
	test_launches();
	test_traps();
	free(loops);
	return test_result();
}
