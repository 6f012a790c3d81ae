/* SPDX-License-Identifier: MIT */
/* One stream is held up, with copies on it; a copy on another stream must not wait for those: the
 * program lets the first stream go on only after the second has finished. */
#include <pthread.h>

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_hang.h"

#define BYTES ((size_t)16 << 20) /* all that a ring holds */
#define SMALL ((size_t)300 << 10)

static char *device, *small;
static cudaStream_t held, other;
static atomic_bool returned;

/* May wait for its own stream: the documentation leaves that open. */
static void *send_held(void *source)
{
	OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, held));
	atomic_store(&returned, true);
	return NULL;
}

/* Gives it the time that it needs if it does not wait. */
static void linger(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!atomic_load(&returned) && now.tv_sec - start.tv_sec < 2);
}

int main(void)
{
	struct gate gate;
	pthread_t thread;
	char *source = malloc(BYTES), *aside = malloc(SMALL), *back = malloc(BYTES);

	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMalloc((void **)&small, SMALL));
	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 1; i <= 3; i++) {
		memset(source, i, BYTES);
		memset(aside, i + 10, SMALL);
		OK(cudaMemcpyAsync(small, aside, SMALL, cudaMemcpyHostToDevice, held));
		OK(cudaStreamSynchronize(held));
		gate_close(&gate, held);
		MUST_END_IN(3);
		atomic_store(&returned, false);
		TEST_EQ(pthread_create(&thread, NULL, send_held, source), 0);
		linger();
		OK(cudaMemcpyAsync(small, aside, SMALL, cudaMemcpyHostToDevice, other));
		memset(aside, 0x55, SMALL);
		OK(cudaStreamSynchronize(other));
		TEST_TRUE(!atomic_load(&gate.passed));
		gate_open(&gate);
		pthread_join(thread, NULL);
		memset(source, 0x55, BYTES);
		OK(cudaMemcpyAsync(back, device, BYTES, cudaMemcpyDeviceToHost, held));
		OK(cudaStreamSynchronize(held));
		TEST_EQ(wrong_bytes(back, i, BYTES), 0);
		OK(cudaMemcpyAsync(back, small, SMALL, cudaMemcpyDeviceToHost, other));
		OK(cudaStreamSynchronize(other));
		TEST_EQ(wrong_bytes(back, i + 10, SMALL), 0);
	}
	return test_result();
}
