/* SPDX-License-Identifier: MIT */
/* Processes share a device's memory: what one takes the others cannot have, until it frees it or
 * ends, in whatever way. */
#include "tests/rewrites/memory/neighbour.h"

#include "sim_gate.h"

#define MIB ((size_t)1 << 20)
#define HOLDS (64 * MIB)
#define LITTLE (8 * MIB) /* what rounding may take */

static size_t left(void)
{
	size_t rest = 0, all = 0;

	OK(cudaMemGetInfo(&rest, &all));
	return rest;
}

/* What the others have taken is gone from both points of view. */
static void check_taken(struct neighbour *neighbour, bool ordered)
{
	const size_t before = neighbour_ask(neighbour, "left", 0);
	cudaStream_t stream;
	char *memory = NULL;

	OK(cudaStreamCreate(&stream));
	if (ordered)
		OK(cudaMallocAsync((void **)&memory, HOLDS, stream));
	else
		OK(cudaMalloc((void **)&memory, HOLDS));
	TEST_IN(before - neighbour_ask(neighbour, "left", 0), HOLDS, HOLDS + LITTLE);
	TEST_EQ(neighbour_ask(neighbour, "take", before - HOLDS / 2), cudaErrorMemoryAllocation);
	TEST_EQ(neighbour_ask(neighbour, "take", before - HOLDS - LITTLE), 0);
	TEST_IN(left(), 0, LITTLE);
	TEST_EQ(cudaMalloc((void **)&(char *){NULL}, HOLDS), cudaErrorMemoryAllocation);
	TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	TEST_EQ(neighbour_ask(neighbour, "give", 0), 0);
	if (ordered)
		OK(cudaFreeAsync(memory, stream));
	else
		OK(cudaFree(memory));
	OK(cudaStreamSynchronize(stream));
	OK(cudaStreamDestroy(stream));
	TEST_IN(neighbour_ask(neighbour, "left", 0), before, before + LITTLE);
}

/* Whoever is gone has nothing, and others may begin. */
static void check_ends(int by_signal)
{
	struct neighbour neighbour;
	const size_t before = left();

	for (int i = 0; i < 20; i++) {
		neighbour_start(&neighbour);
		TEST_EQ(neighbour_ask(&neighbour, "take", HOLDS), 0);
		TEST_TRUE(left() <= before - HOLDS);
		neighbour_end(&neighbour, by_signal);
		TEST_EQ(left(), before);
	}
}

int main(int count, char **words)
{
	struct neighbour neighbour;

	if (neighbour_is(count, words))
		return neighbour_main();
	if (no_device())
		return test_skip("no device");
	neighbour_start(&neighbour);
	neighbour_ask(&neighbour, "left", 0);
	check_taken(&neighbour, false);
	check_taken(&neighbour, true);
	neighbour_end(&neighbour, 0);
	check_ends(0);
	check_ends(SIGKILL);
	return test_result();
}
