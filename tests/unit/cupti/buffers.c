/* SPDX-License-Identifier: MIT */
/* The pool of activity buffers: a fixed number, never the same one twice, always zeroed. */
#include <pthread.h>

#include "cupti/buffers.h"
#include "tests/test.h"

#define THREADS 4
#define TURNS 20000

static unsigned clashes;

static bool is_zero(const uint8_t *buffer)
{
	return buffer[0] == 0 && !memcmp(buffer, buffer + 1, TFS_CUPTI_BUFFER_BYTES - 1);
}

static void check_exhaustion(void)
{
	uint8_t *buffers[TFS_CUPTI_BUFFERS];
	unsigned i, j;

	for (i = 0; i < TFS_CUPTI_BUFFERS; i++) {
		buffers[i] = tfs_cupti_buffer_take();
		TEST_TRUE(buffers[i] && (uintptr_t)buffers[i] % 8 == 0);
		for (j = 0; j < i; j++)
			TEST_TRUE(buffers[i] != buffers[j]);
	}
	TEST_TRUE(!tfs_cupti_buffer_take());
	memset(buffers[7], 0xff, 1000);
	tfs_cupti_buffer_return(buffers[7], 1000);
	TEST_TRUE(tfs_cupti_buffer_take() == buffers[7]);
	TEST_TRUE(is_zero(buffers[7]));
	for (i = 0; i < TFS_CUPTI_BUFFERS; i++)
		tfs_cupti_buffer_return(buffers[i], TFS_CUPTI_BUFFER_BYTES);
	/* What is not ours is left alone. */
	tfs_cupti_buffer_return((uint8_t *)&i, 8);
}

static void *take_turns(void *number)
{
	unsigned i;

	for (i = 0; i < TURNS; i++) {
		uint8_t *buffer = tfs_cupti_buffer_take();

		if (!buffer)
			continue;
		if (__atomic_exchange_n(buffer, (uint8_t)(uintptr_t)number, __ATOMIC_RELAXED))
			__atomic_fetch_add(&clashes, 1, __ATOMIC_RELAXED);
		tfs_cupti_buffer_return(buffer, 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uintptr_t i;

	check_exhaustion();
	for (i = 0; i < THREADS; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, take_turns, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	TEST_EQ(clashes, 0);
	return test_result();
}
