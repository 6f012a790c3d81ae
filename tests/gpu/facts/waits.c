/* SPDX-License-Identifier: MIT */
/*
 * Which calls wait for the device: behind a host function that holds the stream until a watchdog
 * lets it go ("host"), and behind a kernel that runs for 50 ms ("kernel"). And what small copies
 * from pageable memory take. See fact.h.
 */
#include <pthread.h>

#include "tests/gpu/facts/fact.h"
#include "tests/promises/sim_gate.h"

enum { BYTES = 8 << 20, SMALL = 48 << 10, SPIN_NS = 50000000, REPEATS = 101 };

static cudaStream_t stream;
static cudaKernel_t spin;
static char *device, *pageable, *pinned;
static void *spare;

static void call_malloc(void)
{
	OK(cudaMalloc(&spare, BYTES));
}

static void call_free(void)
{
	OK(cudaFree(spare));
}

static void call_host_alloc(void)
{
	OK(cudaHostAlloc(&spare, BYTES, 0));
}

static void call_free_host(void)
{
	OK(cudaFreeHost(spare));
}

static void call_register(void)
{
	OK(cudaHostRegister(pageable, BYTES, 0));
}

static void call_unregister(void)
{
	OK(cudaHostUnregister(pageable));
}

static void call_pageable(void)
{
	OK(cudaMemcpy(device, pageable, BYTES, cudaMemcpyHostToDevice));
}

static void call_pageable_small(void)
{
	OK(cudaMemcpy(device, pageable, SMALL, cudaMemcpyHostToDevice));
}

static void call_pageable_async(void)
{
	OK(cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream));
}

static void call_pageable_small_async(void)
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

static void call_pool_malloc(void)
{
	OK(cudaMallocAsync(&spare, BYTES, stream));
}

static void call_pool_free(void)
{
	OK(cudaFreeAsync(spare, stream));
}

static void call_event_destroy(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	OK(cudaEventRecord(event, stream));
	OK(cudaEventDestroy(event));
}

/* In this order: some release what others have made. */
static const struct {
	const char *name;
	void (*call)(void);
	bool legacy; /* the work before it is on the default stream, else on one of its own */
} calls[] = {
	{"cudaMalloc", call_malloc, false},
	{"cudaFree", call_free, false},
	{"cudaHostAlloc", call_host_alloc, false},
	{"cudaFreeHost", call_free_host, false},
	{"cudaHostRegister", call_register, false},
	{"cudaHostUnregister", call_unregister, false},
	{"cudaMallocAsync", call_pool_malloc, false},
	{"cudaFreeAsync", call_pool_free, false},
	{"cudaEventDestroy-recorded", call_event_destroy, false},
	{"pageable-8M-async", call_pageable_async, false},
	{"pageable-48K-async", call_pageable_small_async, false},
	{"pinned-8M-async", call_pinned_async, false},
	{"device-to-pageable-8M-async", call_read_async, false},
	{"pageable-8M-other-stream", call_pageable, false},
	{"pageable-8M", call_pageable, true},
	{"pageable-48K", call_pageable_small, true},
	{"cudaMemset", call_memset, true},
	{"device-to-device", call_device_copy, true},
};

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

static void behind_host(unsigned i)
{
	struct probe probe;
	pthread_t thread;
	char name[64];

	sem_init(&probe.done, 0, 0);
	OK(cudaDeviceSynchronize());
	gate_close(&probe.gate, calls[i].legacy ? cudaStreamLegacy : stream);
	pthread_create(&thread, NULL, watchdog, &probe);
	calls[i].call();
	snprintf(name, sizeof(name), "%s-behind-host", calls[i].name);
	fact("waits", name, "%s", atomic_load(&probe.gate.passed) ? "waits" : "returns");
	sem_post(&probe.done);
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
}

static void behind_kernel(unsigned i)
{
	const uint64_t spin_ns = SPIN_NS;
	void *arguments[] = {(void *)(uintptr_t)&spin_ns};
	const dim3 one = {1, 1, 1};
	char name[64];

	snprintf(name, sizeof(name), "%s-behind-kernel", calls[i].name);
	OK(cudaDeviceSynchronize());
	OK(cudaLaunchKernel((const void *)spin, one, one, arguments, 0,
		calls[i].legacy ? cudaStreamLegacy : stream));
	const uint64_t start = fact_now_ns();
	calls[i].call();
	const double spent_ms = (double)(fact_now_ns() - start) / 1e6;
	fact("waits", name, "%s (%.3f ms)", spent_ms > SPIN_NS / 2e6 ? "waits" : "returns",
		spent_ms);
	OK(cudaDeviceSynchronize());
}

static void time_copy(const char *name, size_t bytes, bool async)
{
	double us[REPEATS];
	char full[64];

	for (unsigned i = 0; i < REPEATS; i++) {
		OK(cudaDeviceSynchronize());
		const uint64_t start = fact_now_ns();
		if (async)
			OK(cudaMemcpyAsync(
				device, pageable, bytes, cudaMemcpyHostToDevice, stream));
		else
			OK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice));
		us[i] = (double)(fact_now_ns() - start) / 1e3;
	}
	snprintf(full, sizeof(full), "%s-%zuK-host-us", name, bytes >> 10);
	fact("copies", full, "%.2f", fact_median(us, REPEATS));
}

static void last_error_after_query(void)
{
	struct gate gate;

	OK(cudaDeviceSynchronize());
	gate_close(&gate, stream);
	const cudaError_t query = cudaStreamQuery(stream);
	const cudaError_t last = cudaPeekAtLastError();
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
	fact("waits", "not-ready-is-last-error", "%s (query %d, last error %d)",
		last == cudaErrorNotReady ? "yes" : "no", (int)query, (int)last);
	cudaGetLastError();
}

int main(void)
{
	cudaLibrary_t library;

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMallocHost((void **)&pinned, BYTES));
	pageable = malloc(BYTES);
	memset(pageable, 1, BYTES);
	memset(pinned, 1, BYTES);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		behind_host(i);
	last_error_after_query();
	alarm(0);
	for (size_t bytes = 4 << 10; bytes <= 1 << 20; bytes *= 4) {
		time_copy("pageable", bytes, false);
		time_copy("pageable-async", bytes, true);
	}
	if (fact_simulated()) {
		fact("waits", "behind-kernel", "not simulated");
		return test_result();
	}
	OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&spin, library, "spin"));
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		behind_kernel(i);
	return test_result();
}
