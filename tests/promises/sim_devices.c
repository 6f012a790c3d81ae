/* SPDX-License-Identifier: MIT */
/* Two devices: what belongs to which, copies between them. Needs two. */
#include "sim_gate.h"

#define SIZE 4096

static void check_streams(cudaStream_t of_zero)
{
	cudaEvent_t event;
	struct gate gate;
	void *memory;

	/* Device 1 is current. The default stream is the device's own: it does not wait here. */
	gate_close(&gate, of_zero);
	OK(cudaMalloc(&memory, 64));
	OK(cudaMemset(memory, 0, 64));
	OK(cudaStreamSynchronize(NULL));
	OK(cudaDeviceSynchronize());
	TEST_TRUE(!gate.passed);
	/* An event belongs to the device it was made on. */
	OK(cudaEventCreate(&event));
	TEST_EQ(cudaEventRecord(event, of_zero), cudaErrorInvalidResourceHandle);
	/* Waiting may cross. */
	OK(cudaEventRecord(event, NULL));
	OK(cudaStreamWaitEvent(of_zero, event, 0));
	gate_open(&gate);
	OK(cudaStreamSynchronize(of_zero));
	(void)cudaGetLastError();
}

static void check_copies(void *zero, void *one)
{
	struct cudaPointerAttributes attributes;
	unsigned char back[SIZE];
	int can = 0;

	OK(cudaPointerGetAttributes(&attributes, zero));
	TEST_EQ(attributes.device, 0);
	OK(cudaPointerGetAttributes(&attributes, one));
	TEST_EQ(attributes.device, 1);
	OK(cudaMemset(one, 1, SIZE));
	OK(cudaMemcpyPeer(zero, 0, one, 1, SIZE));
	OK(cudaMemcpy(back, zero, SIZE, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, 1, SIZE), 0);
	TEST_EQ(cudaMemcpyPeer(zero, 0, one, 99, SIZE), cudaErrorInvalidDevice);
	OK(cudaDeviceCanAccessPeer(&can, 0, 1));
	if (can) {
		OK(cudaDeviceEnablePeerAccess(0, 0));
		TEST_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
		OK(cudaDeviceDisablePeerAccess(0));
	}
	(void)cudaGetLastError();
}

/* Each has an id of its own, by which it is found. */
static void check_bus_ids(void)
{
	char ids[2][16];
	int found = -1;

	for (int device = 0; device < 2; device++) {
		OK(cudaDeviceGetPCIBusId(ids[device], sizeof(ids[device]), device));
		OK(cudaDeviceGetByPCIBusId(&found, ids[device]));
		TEST_EQ(found, device);
	}
	TEST_TRUE(strcmp(ids[0], ids[1]) != 0);
	TEST_EQ(cudaDeviceGetPCIBusId(ids[0], sizeof(ids[0]), 99), cudaErrorInvalidDevice);
	(void)cudaGetLastError();
}

/* Access ends once, by being disabled or with all that the device has. */
static void check_peers(void)
{
	int can = 0;

	OK(cudaDeviceCanAccessPeer(&can, 1, 0));
	TEST_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
	for (int i = 0; i < 2 && can; i++) {
		OK(cudaDeviceEnablePeerAccess(0, 0));
		OK(cudaDeviceReset());
	}
	TEST_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
	TEST_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
	(void)cudaGetLastError();
}

int main(void)
{
	cudaStream_t stream;
	int count = 0, current = -1;
	void *zero, *one;

	if (no_device())
		return test_skip("no device");
	OK(cudaGetDeviceCount(&count));
	if (count < 2)
		return test_skip("one device only");
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc(&zero, SIZE));
	OK(cudaSetDevice(1));
	OK(cudaGetDevice(&current));
	TEST_EQ(current, 1);
	OK(cudaMalloc(&one, SIZE));
	check_streams(stream);
	check_copies(zero, one);
	TEST_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
	OK(cudaSetDevice(0));
	OK(cudaFree(one));
	OK(cudaSetDevice(1));
	check_bus_ids();
	check_peers();
	return test_result();
}
