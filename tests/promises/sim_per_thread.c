/* SPDX-License-Identifier: MIT */
/* With per-thread default streams, threads do not wait for each other; legacy waits for all. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include <pthread.h>

#include "sim_gate.h"

static struct gate gate;
static sem_t closed, finish;

static void *holder(void *unused)
{
	atomic_bool mark;

	gate_close(&gate, NULL);
	sem_post(&closed);
	sem_wait(&finish);
	OK(cudaStreamSynchronize(NULL));
	mark_put(&mark, NULL);
	OK(cudaStreamSynchronize(cudaStreamPerThread));
	TEST_TRUE(mark);
	return unused;
}

int main(void)
{
	unsigned char host[64];
	cudaStream_t exempt;
	pthread_t thread;
	void *memory;

	if (no_device())
		return test_skip("no device");
	sem_init(&closed, 0, 0);
	sem_init(&finish, 0, 0);
	OK(cudaMalloc(&memory, 64));
	OK(cudaStreamCreateWithFlags(&exempt, cudaStreamNonBlocking));
	OK(cudaMemset(memory, 1, 64));
	OK(cudaStreamSynchronize(NULL));
	pthread_create(&thread, NULL, holder, NULL);
	sem_wait(&closed);
	/* The other thread's stream is held: ours is not, in either form of the call. */
	OK(cudaMemsetAsync(memory, 5, 64, NULL));
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(host, 5, 64), 0);
	TEST_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
	TEST_TRUE(!gate.passed);
	/* The legacy stream waits for it, and then holds back ours. */
	OK(cudaMemsetAsync(memory, 6, 64, cudaStreamLegacy));
	TEST_EQ(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
	OK(cudaMemsetAsync(memory, 7, 32, NULL));
	TEST_EQ(cudaStreamQuery(NULL), cudaErrorNotReady);
	OK(cudaStreamSynchronize(exempt));
	gate_open(&gate);
	sem_post(&finish);
	OK(cudaMemcpy(host, memory, 64, cudaMemcpyDeviceToHost));
	TEST_TRUE(gate.passed);
	TEST_EQ(wrong_bytes(host, 7, 32), 0);
	TEST_EQ(wrong_bytes(host + 32, 6, 32), 0);
	pthread_join(thread, NULL);
	return test_result();
}
