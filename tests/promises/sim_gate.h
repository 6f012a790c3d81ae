/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_SIM_GATE_H
#define TFS_TESTS_PROGRAMS_SIM_GATE_H

/*
 * For the programs that prove what streams do (sim_*.c); they use the public runtime only and run
 * unchanged on hardware. A gate is a host function that holds its stream until the program opens
 * it: what returns while the gate is closed did not wait, what is unfinished was held back. One
 * gate at a time, since host functions may share a thread. A mark is a host function that is in no
 * hurry and then says that it ran: a call that returns after it has waited for the stream. How
 * long it dawdles only makes a wrong device fail surely; a right one never depends on it.
 */

#include <cuda_runtime_api.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, cudaSuccess)

struct gate {
	sem_t open;
	atomic_bool passed;
};

/* A device that gets something wrong may wait for the gate before the program opens it: then it
 * opens late by itself, and the checks find it passed. */
static inline void gate_wait(void *data)
{
	struct gate *gate = data;
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 15;
	sem_timedwait(&gate->open, &late);
	atomic_store(&gate->passed, true);
}

static inline void gate_close(struct gate *gate, cudaStream_t stream)
{
	sem_init(&gate->open, 0, 0);
	atomic_store(&gate->passed, false);
	OK(cudaLaunchHostFunc(stream, gate_wait, gate));
}

static inline void gate_open(struct gate *gate)
{
	sem_post(&gate->open);
}

static inline void mark_dawdle(void *data)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 20);
	atomic_store((atomic_bool *)data, true);
}

static inline void mark_put(atomic_bool *mark, cudaStream_t stream)
{
	atomic_store(mark, false);
	OK(cudaLaunchHostFunc(stream, mark_dawdle, mark));
}

static inline bool no_device(void)
{
	int count = 0;

	return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

/* How many bytes differ from the value. */
static inline size_t wrong_bytes(const void *memory, int value, size_t size)
{
	const unsigned char *bytes = memory;
	size_t wrong = 0;

	for (size_t i = 0; i < size; i++)
		wrong += bytes[i] != (unsigned char)value;
	return wrong;
}

#endif
