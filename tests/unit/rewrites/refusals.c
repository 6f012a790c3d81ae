/* SPDX-License-Identifier: MIT */
/* Refusals are counted by many threads at once, and of many call sites, and none is lost. */
#include <pthread.h>

#include "shim/record/recorder.h"
#include "shim/rewrites/rewrite_refusals.h"
#include "tests/test.h"

#define THREADS 20u
#define TIMES 3000000u
#define SITES 3u
#define MANY 600u /* of 1024 that there is room for */

static uint64_t seen[SITES], others;
static pthread_barrier_t start;

static void *refuse(void *argument)
{
	struct tfs_thread *self = argument;

	tfs_self.owned = self;
	pthread_barrier_wait(&start);
	for (uint32_t i = 0; i < TIMES; i++)
		tfs_refusal_count(2, 5, 100 + i % SITES);
	tfs_self.owned = NULL;
	return NULL;
}

static void take(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count)
{
	if (rewrite == 2 && check == 5 && site >= 100 && site < 100 + SITES)
		seen[site - 100] += count;
	else
		others += count;
}

int main(void)
{
	static struct tfs_thread states[THREADS];
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	pthread_barrier_init(&start, NULL, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		states[i].index = i;
		/* One that is not recorded. */
		TEST_NEED(!pthread_create(&threads[i], NULL, refuse, i ? &states[i] : NULL));
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	TEST_EQ(tfs_refusal_each(take), 0);
	for (uint32_t i = 0; i < SITES; i++)
		sum += seen[i];
	TEST_EQ(sum, (uint64_t)THREADS * TIMES);
	TEST_EQ(seen[0], (uint64_t)THREADS * ((TIMES + 2) / SITES));
	TEST_EQ(others, 0);
	/* Other call sites find a place as well. */
	for (uint32_t i = 0; i < MANY; i++)
		tfs_refusal_count(3, 1, 1 + i);
	TEST_EQ(tfs_refusal_each(take), 0);
	TEST_EQ(others, MANY);
	return test_result();
}
