/* SPDX-License-Identifier: MIT */
/* Copies from and to pageable memory: what the host may do when the call returns. */
#include "sim_gate.h"

#define SIZE (1 << 20)
#define COPIES 8

static char *device, *host, *back;
static cudaStream_t stream;

/* The source is the program's again at return, though the stream has other things to do first. */
static void check_source_is_free(bool async)
{
	atomic_bool mark;

	mark_put(&mark, async ? stream : NULL);
	for (int i = 0; i < COPIES; i++) {
		memset(host, i + 1, SIZE);
		if (async)
			OK(cudaMemcpyAsync(device + (size_t)i * SIZE, host, SIZE,
				cudaMemcpyHostToDevice, stream));
		else
			OK(cudaMemcpy(
				device + (size_t)i * SIZE, host, SIZE, cudaMemcpyHostToDevice));
		memset(host, 0xee, SIZE);
	}
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < COPIES; i++) {
		OK(cudaMemcpy(back, device + (size_t)i * SIZE, SIZE, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i + 1, SIZE), 0);
	}
}

/* A small source is in no hurry either. */
static void check_small_source(void)
{
	char small[64], seen[64];

	memset(small, 3, sizeof(small));
	OK(cudaMemcpyAsync(device, small, sizeof(small), cudaMemcpyHostToDevice, stream));
	memset(small, 4, sizeof(small));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(seen, device, sizeof(seen), cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(seen, 3, sizeof(seen)), 0);
}

static void check_sync_copy_waits(void)
{
	atomic_bool mark;

	mark_put(&mark, NULL);
	OK(cudaMemcpy(device, host, SIZE, cudaMemcpyHostToDevice));
	TEST_TRUE(mark);
	mark_put(&mark, NULL);
	OK(cudaMemcpy(back, device, SIZE, cudaMemcpyDeviceToHost));
	TEST_TRUE(mark);
	mark_put(&mark, NULL);
	OK(cudaMemcpy(back, host, SIZE, cudaMemcpyHostToHost));
	TEST_TRUE(mark);
	TEST_EQ(memcmp(back, host, SIZE), 0);
}

/* Host to host is synchronous in either form. */
static void check_host_to_host(void)
{
	atomic_bool mark;

	memset(host, 9, SIZE);
	mark_put(&mark, stream);
	OK(cudaMemcpyAsync(back, host, SIZE, cudaMemcpyHostToHost, stream));
	TEST_TRUE(mark);
	TEST_EQ(wrong_bytes(back, 9, SIZE), 0);
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	host = malloc(SIZE);
	back = malloc(SIZE);
	OK(cudaMalloc((void **)&device, (size_t)COPIES * SIZE));
	OK(cudaStreamCreate(&stream));
	check_source_is_free(true);
	check_source_is_free(false);
	check_small_source();
	check_sync_copy_waits();
	check_host_to_host();
	return test_result();
}
