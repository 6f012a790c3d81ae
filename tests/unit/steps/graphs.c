/* SPDX-License-Identifier: MIT */
/* What graphs do, as captures, nodes, copies and handles that come again leave it. */
#include "shim/steps/loops/graphs.h"

#include "shim/steps/loops/loops.h"
#include "tests/test.h"

#define STREAM 7
#define MOST 64u

static struct tfs_graphs *graphs;

static void begin(void)
{
	free(graphs);
	graphs = tfs_graphs_init(calloc(1, tfs_graphs_bytes()));
	TEST_NEED(graphs);
}

static void node(uint64_t graph, uint32_t site)
{
	const struct tfs_loops_operand operand = {site, true, false, false};

	tfs_graphs_node(graphs, graph, site, &operand, 1);
}

static void capture(uint64_t thread, uint32_t site)
{
	const struct tfs_loops_operand operand = {site, true, false, false};

	tfs_graphs_call(graphs, thread, STREAM, site, &operand, 1);
}

/* The sites of a graph's work, as digits of one number. */
static long long sites(uint64_t graph)
{
	struct tfs_graphs_work work;
	uint64_t cursor = 0;
	long long all = 0;

	for (unsigned i = 0; i < MOST && tfs_graphs_next(graphs, graph, &cursor, &work); i++) {
		all = 10 * all + work.site;
		TEST_EQ(work.count, 1);
		TEST_EQ(work.operands[0] >> 3, work.site);
	}
	return all;
}

static uint32_t works(uint64_t graph)
{
	struct tfs_graphs_work work;
	uint64_t cursor = 0;
	uint32_t count = 0;

	while (tfs_graphs_next(graphs, graph, &cursor, &work))
		count++;
	return count;
}

/* Two graphs that are built at once, and one that is made executable before it is whole. */
static void test_built(void)
{
	begin();
	node(100, 1);
	node(200, 5);
	node(100, 2);
	tfs_graphs_made(graphs, 101, 100);
	node(200, 6);
	node(100, 3);
	tfs_graphs_made(graphs, 102, 100);
	TEST_EQ(sites(100), 123);
	TEST_EQ(sites(101), 12);
	TEST_EQ(sites(102), 123);
	TEST_EQ(sites(200), 56);
	TEST_EQ(sites(300), 0);
}

/* A copy and what it was made of go on apart, whichever goes on first. */
static void test_copies(void)
{
	begin();
	node(100, 1);
	tfs_graphs_made(graphs, 200, 100);
	node(200, 2);
	node(100, 3);
	node(200, 4);
	TEST_EQ(sites(100), 13);
	TEST_EQ(sites(200), 124);
	tfs_graphs_child(graphs, 100, 200);
	node(200, 5);
	node(100, 6);
	TEST_EQ(sites(100), 131246);
	TEST_EQ(sites(200), 1245);
	/* An empty graph, and one that nobody saw being made, add nothing. */
	tfs_graphs_child(graphs, 100, 999);
	tfs_graphs_child(graphs, 998, 999);
	TEST_EQ(sites(100), 131246);
	TEST_EQ(sites(998), 0);
}

/* A handle that is another graph's now, which is empty, or which nobody saw being made. */
static void test_again(void)
{
	begin();
	node(100, 1);
	tfs_graphs_made(graphs, 101, 100);
	tfs_graphs_made(graphs, 100, 0);
	TEST_EQ(sites(100), 0);
	TEST_EQ(sites(101), 1);
	node(100, 2);
	TEST_EQ(sites(100), 2);
	tfs_graphs_made(graphs, 101, 999);
	TEST_EQ(sites(101), 0);
}

/* What another thread does on the stream is captured too; what it does elsewhere is not. */
static void test_captures(void)
{
	const struct tfs_loops_operand operand = {9, true, false, false};

	begin();
	capture(1, 8);
	tfs_graphs_capture(graphs, 1, STREAM, 0);
	TEST_EQ(tfs_graphs_capturing(graphs), 1);
	capture(1, 1);
	capture(2, 2);
	tfs_graphs_call(graphs, 2, STREAM + 1, 9, &operand, 1);
	tfs_graphs_call(graphs, 1, STREAM + 1, 3, &(struct tfs_loops_operand){.address = 3}, 1);
	tfs_graphs_captured(graphs, 1, STREAM, 100);
	TEST_EQ(tfs_graphs_capturing(graphs), 0);
	capture(1, 8);
	TEST_EQ(sites(100), 123);
	/* Behind what it has, and that stays as it was. */
	tfs_graphs_made(graphs, 101, 100);
	tfs_graphs_capture(graphs, 1, STREAM, 100);
	capture(1, 4);
	tfs_graphs_captured(graphs, 1, STREAM, 100);
	TEST_EQ(sites(100), 1234);
	TEST_EQ(sites(101), 123);
	/* One that failed. */
	tfs_graphs_capture(graphs, 1, STREAM, 0);
	capture(1, 5);
	tfs_graphs_captured(graphs, 1, STREAM, 0);
	TEST_EQ(tfs_graphs_capturing(graphs), 0);
	/* One whose end nobody saw, and the next on its stream. */
	tfs_graphs_capture(graphs, 1, STREAM, 0);
	capture(1, 6);
	tfs_graphs_capture(graphs, 2, STREAM, 0);
	TEST_EQ(tfs_graphs_capturing(graphs), 1);
	capture(2, 7);
	tfs_graphs_captured(graphs, 2, STREAM, 400);
	TEST_EQ(sites(400), 7);
	TEST_EQ(tfs_graphs_capturing(graphs), 0);
}

/* A graph captured anew in every step: what lasts is kept, however often that is. */
static void test_many(void)
{
	begin();
	node(100, 1);
	node(200, 4);
	node(100, 2);
	tfs_graphs_made(graphs, 101, 100);
	node(100, 3);
	for (unsigned step = 0; step < 3000; step++) {
		tfs_graphs_capture(graphs, 1, STREAM, 0);
		for (uint32_t i = 1; i < 100; i++)
			capture(1, i % 10);
		tfs_graphs_captured(graphs, 1, STREAM, 300);
		tfs_graphs_made(graphs, 301, 300);
	}
	TEST_EQ(sites(101), 12);
	TEST_EQ(sites(100), 123);
	TEST_EQ(sites(200), 4);
	node(100, 5);
	TEST_EQ(sites(100), 1235);
	TEST_EQ(sites(101), 12);
}

/* More than there is room for: then nothing is known, and it begins anew. */
static void test_too_much(void)
{
	begin();
	for (uint64_t graph = 1; graph <= 900; graph++)
		for (uint32_t i = 0; i < 100; i++)
			node(1000 + graph, 1 + i % 9);
	TEST_EQ(sites(1001), 0);
	node(100, 1);
	TEST_EQ(sites(100), 1);
	/* A graph of one child so many times; a part of it would be another graph. */
	begin();
	for (uint32_t i = 0; i < 100; i++)
		node(1, 7);
	for (uint32_t i = 0; i < 600; i++)
		tfs_graphs_child(graphs, 2, 1);
	TEST_EQ(works(2), 60000);
	for (uint32_t i = 0; i < 100; i++)
		tfs_graphs_child(graphs, 2, 1);
	TEST_EQ(works(2), 0);
}

/* What a launch costs the search: all that the graph does. */
static void test_launched(void)
{
	static const uint64_t frames[] = {0x1000, 0x100};
	struct tfs_loops *loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));

	begin();
	for (uint32_t i = 1; i <= 100; i++)
		node(100, i);
	TEST_EQ(tfs_loops_launched(loops, 5, frames, 2, graphs, 100), 100);
	TEST_EQ(tfs_loops_logged(loops), 100);
	TEST_EQ(tfs_loops_launched(loops, 5, frames, 2, graphs, 200), 0);
	TEST_EQ(tfs_loops_launched(loops, 5, frames, 2, graphs, 100), 100);
	TEST_EQ(tfs_loops_logged(loops), 200);
	free(loops);
}

int main(void)
{
	test_built();
	test_copies();
	test_again();
	test_captures();
	test_many();
	test_too_much();
	test_launched();
	free(graphs);
	return test_result();
}
