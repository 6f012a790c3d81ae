/* SPDX-License-Identifier: MIT */
/* Pinned memory: asynchronous copies really are, and read and write when their turn comes. */
#include "sim_gate.h"

#define SIZE 4096

static char *pinned, *second, *device, *other;
static cudaStream_t stream;

static void check_source_read_late(char *source)
{
	char seen[SIZE];
	struct gate gate;

	memset(source, 1, SIZE);
	gate_close(&gate, stream);
	OK(cudaMemcpyAsync(device, source, SIZE, cudaMemcpyHostToDevice, stream));
	TEST_TRUE(!gate.passed);
	memset(source, 2, SIZE);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(seen, device, SIZE, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(seen, 2, SIZE), 0);
}

static void check_result_comes_late(void)
{
	struct gate gate;

	OK(cudaMemset(device, 5, SIZE));
	OK(cudaDeviceSynchronize());
	memset(pinned, 4, SIZE);
	gate_close(&gate, stream);
	OK(cudaMemcpyAsync(pinned, device, SIZE, cudaMemcpyDeviceToHost, stream));
	TEST_EQ(wrong_bytes(pinned, 4, SIZE), 0);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(pinned, 5, SIZE), 0);
}

static void check_sync_copies_wait(void)
{
	atomic_bool mark;

	mark_put(&mark, NULL);
	OK(cudaMemcpy(device, pinned, SIZE, cudaMemcpyHostToDevice));
	TEST_TRUE(mark);
	mark_put(&mark, NULL);
	OK(cudaMemcpy(second, device, SIZE, cudaMemcpyDeviceToHost));
	TEST_TRUE(mark);
	TEST_EQ(memcmp(second, pinned, SIZE), 0);
}

/* The host goes on after a copy within the device, and after setting device memory. */
static void check_device_side(void)
{
	struct gate gate;

	gate_close(&gate, NULL);
	OK(cudaMemcpy(other, device, SIZE, cudaMemcpyDeviceToDevice));
	OK(cudaMemset(device, 6, SIZE));
	OK(cudaMemcpyAsync(other, device, SIZE, cudaMemcpyDeviceToDevice, NULL));
	OK(cudaMemsetAsync(second, 8, SIZE, NULL));
	TEST_TRUE(!gate.passed);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(pinned, other, SIZE, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(pinned, 6, SIZE), 0);
	TEST_EQ(wrong_bytes(second, 8, SIZE), 0);
}

static void check_memset_of_pinned(void)
{
	atomic_bool mark;

	mark_put(&mark, NULL);
	OK(cudaMemset(pinned, 3, SIZE));
	TEST_TRUE(mark);
	TEST_EQ(wrong_bytes(pinned, 3, SIZE), 0);
}

static void check_registered(void)
{
	char *plain = aligned_alloc(4096, SIZE);
	struct cudaPointerAttributes attributes;

	OK(cudaHostRegister(plain, SIZE, cudaHostRegisterDefault));
	OK(cudaPointerGetAttributes(&attributes, plain));
	TEST_EQ(attributes.type, cudaMemoryTypeHost);
	check_source_read_late(plain);
	TEST_EQ(cudaHostRegister(plain, SIZE, 0), cudaErrorHostMemoryAlreadyRegistered);
	OK(cudaHostUnregister(plain));
	TEST_EQ(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
	OK(cudaPointerGetAttributes(&attributes, plain));
	TEST_EQ(attributes.type, cudaMemoryTypeUnregistered);
	free(plain);
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaMallocHost((void **)&pinned, SIZE));
	OK(cudaHostAlloc((void **)&second, SIZE, cudaHostAllocDefault));
	OK(cudaMalloc((void **)&device, SIZE));
	OK(cudaMalloc((void **)&other, SIZE));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	check_source_read_late(pinned);
	check_result_comes_late();
	check_sync_copies_wait();
	check_device_side();
	check_memset_of_pinned();
	check_registered();
	return test_result();
}
