/* SPDX-License-Identifier: MIT */
/*
 * Asks the device what documentation leaves open: which calls wait while a kernel-like host
 * function holds the stream, what pointers are told to be, what the searches do to their outputs.
 * Prints one line per fact, "fact NAME VALUE"; says nothing about right or wrong. Exit 77 without a
 * device.
 */
#include <cudnn.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/programs/sim_gate.h"

#define BYTES (8u << 20)
#define SMALL (48u << 10)

static cudaStream_t stream;
static char *device;

static void say(const char *name, const char *value)
{
	printf("fact %s %s\n", name, value);
}

/* Does the call return while the stream is held? A watchdog opens the gate after 200 ms. */
struct probe {
	struct gate gate;
	sem_t done;
};

static void *watchdog(void *argument)
{
	struct probe *probe = argument;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += 200000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	sem_timedwait(&probe->done, &end);
	gate_open(&probe->gate);
	return NULL;
}

static void blocks(const char *name, cudaStream_t held, void (*call)(void))
{
	struct probe probe;
	pthread_t thread;

	sem_init(&probe.done, 0, 0);
	OK(cudaDeviceSynchronize());
	gate_close(&probe.gate, held);
	pthread_create(&thread, NULL, watchdog, &probe);
	call();
	say(name, atomic_load(&probe.gate.passed) ? "waits" : "returns");
	sem_post(&probe.done);
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
}

static char *pageable, *pinned, *spare;

static void call_malloc(void)
{
	OK(cudaMalloc((void **)&spare, BYTES));
}

static void call_free(void)
{
	OK(cudaFree(spare));
}

static void call_host_alloc(void)
{
	OK(cudaHostAlloc((void **)&spare, BYTES, 0));
}

static void call_free_host(void)
{
	OK(cudaFreeHost(spare));
}

static void call_pageable_async(void)
{
	OK(cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream));
}

static void call_pageable_small(void)
{
	OK(cudaMemcpyAsync(device, pageable, SMALL, cudaMemcpyHostToDevice, stream));
}

static void call_pinned_async(void)
{
	OK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
}

static void call_read_async(void)
{
	OK(cudaMemcpyAsync(pageable, device, BYTES, cudaMemcpyDeviceToHost, stream));
}

static void call_memset(void)
{
	OK(cudaMemset(device, 0, BYTES));
}

static void call_device_copy(void)
{
	OK(cudaMemcpy(device, device + BYTES / 2, BYTES / 2, cudaMemcpyDeviceToDevice));
}

static void kind(const char *name, const void *pointer)
{
	struct cudaPointerAttributes attributes = {0};
	char text[64];
	const cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);

	snprintf(text, sizeof(text), "status %d type %d", (int)status, (int)attributes.type);
	say(name, text);
}

static void last_error_after_query(void)
{
	struct gate gate;
	char text[64];

	OK(cudaDeviceSynchronize());
	gate_close(&gate, stream);
	const cudaError_t query = cudaStreamQuery(stream);
	const cudaError_t last = cudaPeekAtLastError();
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	snprintf(text, sizeof(text), "query %d last-error %d", (int)query, (int)last);
	say("not-ready-is-last-error", text);
	cudaGetLastError();
}

int main(void)
{
	if (no_device()) {
		printf("skipped: no CUDA device\n");
		return 77;
	}
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMallocHost((void **)&pinned, BYTES));
	pageable = malloc(BYTES);
	memset(pageable, 1, BYTES);
	memset(pinned, 1, BYTES);
	blocks("cudaMalloc-while-busy", stream, call_malloc);
	blocks("cudaFree-while-busy", stream, call_free);
	blocks("cudaHostAlloc-while-busy", stream, call_host_alloc);
	blocks("cudaFreeHost-while-busy", stream, call_free_host);
	blocks("pageable-8M-async-behind-work", stream, call_pageable_async);
	blocks("pageable-48K-async-behind-work", stream, call_pageable_small);
	blocks("pinned-8M-async-behind-work", stream, call_pinned_async);
	blocks("device-to-pageable-async-behind-work", stream, call_read_async);
	blocks("legacy-memset-behind-legacy-work", cudaStreamLegacy, call_memset);
	blocks("legacy-device-copy-behind-legacy-work", cudaStreamLegacy, call_device_copy);
	kind("pointer-pageable", pageable);
	kind("pointer-pinned", pinned);
	kind("pointer-device", device);
	last_error_after_query();
	printf("fact cudnn-version %zu\n", cudnnGetVersion());
	return test_result();
}
