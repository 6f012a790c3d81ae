/* SPDX-License-Identifier: MIT */
/*
 * Trains for a while, with a profiler of its own (cupti_profiler.c) for 20 of the steps:
 *
 *	cupti_second HOW FROM [lend|insist]
 *
 * The profiler must get CUPTI, and see these steps' memsets, whoever had it before. With `lend` the
 * program asks tfshim to give CUPTI back for that time, and to take it again; with `insist` it asks
 * tfshim to take it in the midst of it, which must fail. FROM is the step in
 * which the profiler starts; 0 = before the first call of CUDA.
 */
#include "cupti_second.h"

#include <cuda_runtime_api.h>
#include <time.h>

#include "tests/cupti/cupti_wait.h"
#include "tests/test.h"

#define STEPS 240
#define PROFILED 20
#define BYTES 4096

static void stop(bool lends)
{
	struct profile profile = {0};

	TEST_EQ(profiler_stop(&profile), 0);
	TEST_EQ(profile.memsets, PROFILED);
	TEST_EQ(profile.strange, 0);
	/* It is CUPTI's own clock, not another tool's. */
	TEST_IN(profile.age_ns, 0, 60000000000);
	if (lends)
		TFSHIM_CUPTI(1);
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "v1";
	const int from = count > 2 ? atoi(words[2]) : 100;
	const bool lends = count > 3 && strcmp(words[3], "lend") == 0;
	const bool insists = count > 3 && !lends;
	static char host[BYTES];
	void *memory;

	if (from == 0 && profiler_start(how) != 0)
		return test_skip("CUPTI is not to be had");
	if (cudaMalloc(&memory, BYTES) != cudaSuccess)
		return test_skip("no device");
	if (from != 0)
		cupti_wait();
	for (int step = 1; step <= STEPS; step++) {
		usleep(500);
		TFSHIM_STEP();
		if (step == from) {
			if (lends)
				TEST_EQ(TFSHIM_CUPTI(0), 0);
			TEST_EQ(profiler_start(how), 0);
		}
		if (insists && step == from + 5)
			TEST_EQ(TFSHIM_CUPTI(1), 0);
		TEST_EQ(cudaMemset(memory, step, BYTES), cudaSuccess);
		TEST_EQ(cudaMemcpy(host, memory, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
		TEST_EQ(host[9], (char)step);
		if (step == (from != 0 ? from : 1) + PROFILED - 1)
			stop(lends);
	}
	printf("trained %d steps\n", STEPS);
	return test_result();
}
