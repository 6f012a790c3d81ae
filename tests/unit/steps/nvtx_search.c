/* SPDX-License-Identifier: MIT */
/* Which of a program's ranges are its training steps. */
#include "shim/nvtx/nvtx_search.h"

#include <pthread.h>

#include "tests/test.h"

enum { STEP = 1, FORWARD, UPDATE, BATCH, LAYER, EPOCH };

#define WEIGHTS 0x1000u
#define GRADIENT 0x9000u

static struct tfs_nvtx_search *search;
static uint32_t found;
static const char *me = "main"; /* the thread */
static bool unsure;             /* what reads and writes only may do both */

static void start(void)
{
	free(search);
	search = tfs_nvtx_search_init(calloc(1, tfs_nvtx_search_bytes()));
	TEST_NEED(search);
	found = 0;
}

static void enter(uint32_t name)
{
	tfs_nvtx_search_enter(search, me, name);
}

static void leave(uint32_t name)
{
	tfs_nvtx_search_leave(search, me, name);
}

static void call(uint32_t site, uint64_t address, bool reads, bool writes)
{
	const struct tfs_loops_operand operand = {
		address, reads, writes, unsure && reads && writes};
	const uint32_t name = tfs_nvtx_search_feed(search, me, site, &operand, 1);

	if (!found)
		found = name;
}

static void forward(void)
{
	enter(FORWARD);
	call(1, WEIGHTS, true, false);
	leave(FORWARD);
}

static void update(void)
{
	enter(UPDATE);
	call(2, WEIGHTS, true, true);
	leave(UPDATE);
}

static void step_around(void)
{
	unsigned i;

	start();
	enter(EPOCH);
	for (i = 0; i < 20 && !found; i++) {
		enter(STEP);
		enter(BATCH);
		forward();
		update();
		leave(BATCH);
		leave(STEP);
	}
	TEST_EQ(found, STEP);
	TEST_EQ(i, TFS_NVTX_CONFIRM + 1);
}

/* Nothing that is entered once a step holds both the update and the next read. */
static void parts_only(void)
{
	start();
	for (unsigned i = 0; i < 50; i++) {
		forward();
		update();
	}
	TEST_EQ(found, 0);
}

/* Four micro-batches to a step: the gradient is carried by one call site, the weights by few. */
static void micro_batches(bool around)
{
	start();
	for (unsigned i = 0; i < 50; i++) {
		if (around)
			enter(STEP);
		for (unsigned j = 0; j < 4; j++) {
			enter(BATCH);
			forward();
			call(3, GRADIENT, true, true);
			if (j == 3)
				update();
			leave(BATCH);
		}
		if (around)
			leave(STEP);
	}
	TEST_EQ(found, around ? STEP : 0);
}

/* A kernel named in each layer may carry its scratch memory on; the step around the layers has been
 * there but once. Where the step comes again, it does carry. */
static void scratch(unsigned steps)
{
	start();
	unsure = true;
	for (unsigned i = 0; i < steps; i++) {
		enter(STEP);
		for (unsigned j = 0; j < 50; j++) {
			enter(LAYER);
			call(1, GRADIENT, true, true);
			call(2, GRADIENT, true, true);
			leave(LAYER);
		}
		update();
		leave(STEP);
	}
	unsure = false;
	TEST_EQ(found, steps > TFS_NVTX_CONFIRM ? STEP : 0);
}

/* What an optimiser carries from one update to the next, moments say, does not make it a step: the
 * greater part of the calls is made elsewhere. */
static void moments(void)
{
	start();
	for (unsigned i = 0; i < 50; i++) {
		for (unsigned j = 0; j < 4; j++)
			forward();
		enter(UPDATE);
		call(2, GRADIENT, true, true);
		call(3, GRADIENT, true, true);
		leave(UPDATE);
	}
	TEST_EQ(found, 0);
}

/* Layers share a name, and each updates its own weights. */
static void layers(void)
{
	start();
	for (unsigned i = 0; i < 50; i++) {
		for (unsigned j = 0; j < 3; j++) {
			enter(LAYER);
			call(1, WEIGHTS + j * 256, true, false);
			call(2, WEIGHTS + j * 256, true, true);
			leave(LAYER);
		}
	}
	TEST_EQ(found, 0);
}

/* What is written anew in each range is not carried on from the one before. */
static void written_anew(void)
{
	start();
	for (unsigned i = 0; i < 50; i++) {
		enter(BATCH);
		call(1, GRADIENT, false, true);
		call(2, GRADIENT, true, false);
		call(3, GRADIENT, true, true);
		leave(BATCH);
	}
	TEST_EQ(found, 0);
}

/* What comes before the first step is no reason to doubt it. */
static void prepared(void)
{
	unsigned i;

	start();
	enter(EPOCH);
	for (i = 0; i < 1000; i++)
		call(3, GRADIENT + i * 256, false, true);
	for (i = 0; i < 20 && !found; i++) {
		enter(STEP);
		forward();
		update();
		leave(STEP);
	}
	TEST_EQ(found, STEP);
	TEST_EQ(i, TFS_NVTX_CONFIRM + 1);
}

/* Ranges of another kind may end within the ones that began after them: a batch is loaded from the
 * middle of one step to the middle of the next. */
static void overlapping(void)
{
	unsigned i;

	start();
	enter(EPOCH);
	enter(BATCH);
	for (i = 0; i < 20 && !found; i++) {
		enter(STEP);
		forward();
		leave(BATCH);
		enter(BATCH);
		update();
		leave(STEP);
	}
	TEST_EQ(found, STEP);
	TEST_EQ(i, TFS_NVTX_CONFIRM + 1);
}

/* More of everything than is kept, and ends without starts. */
static void too_much(void)
{
	start();
	for (uint32_t i = 1; i < 500; i++) {
		leave(i);
		enter(i);
	}
	for (uint32_t i = 0; i < 5000; i++)
		call(i % 3, i * 64, true, true);
	for (uint32_t i = 500; i > 0; i--) {
		leave(i);
		leave(i);
	}
	TEST_EQ(found, 0);
}

/* Another thread's ranges and calls have nothing to do with those before. */
static void another_thread(void)
{
	unsigned i;

	start();
	for (i = 0; i < TFS_NVTX_CONFIRM; i++) {
		enter(STEP);
		forward();
		update();
		leave(STEP);
	}
	/* Its own are open when it stops. */
	enter(EPOCH);
	enter(BATCH);
	me = "other";
	for (i = 0; i < 20 && !found; i++) {
		enter(STEP);
		forward();
		update();
		leave(STEP);
	}
	TEST_EQ(found, STEP);
	TEST_EQ(i, TFS_NVTX_CONFIRM + 1);
	me = "main";
}

static void *disturb(void *name)
{
	const struct tfs_loops_operand operands[] = {
		{WEIGHTS, true, true, false}, {GRADIENT, false, true, false}};

	for (uint32_t i = 0; i < 200000; i++) {
		tfs_nvtx_search_enter(search, name, 1 + i % 70);
		tfs_nvtx_search_feed(search, name, 1 + i % 3, operands, 2);
		tfs_nvtx_search_leave(search, name, 1 + i % 70);
	}
	return NULL;
}

/* The steps' thread changes while the one before is still at it. */
static void two_at_once(void)
{
	static char names[2];
	pthread_t threads[2];

	start();
	for (int i = 0; i < 2; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, disturb, &names[i]) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 20 && !found; i++) {
		enter(STEP);
		forward();
		update();
		leave(STEP);
	}
	TEST_EQ(found, STEP);
}

int main(void)
{
	step_around();
	parts_only();
	micro_batches(true);
	micro_batches(false);
	scratch(1);
	scratch(20);
	moments();
	layers();
	written_anew();
	prepared();
	overlapping();
	too_much();
	another_thread();
	two_at_once();
	free(search);
	return test_result();
}
