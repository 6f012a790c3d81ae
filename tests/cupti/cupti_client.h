/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_CUPTI_CLIENT_H
#define TFS_TESTS_PROGRAMS_CUPTI_CLIENT_H

/*
 * For the programs that test CUPTI (cupti_*.c): a client that keeps every record it is handed, and
 * device work by the driver alone. buffer_bytes and buffers_left may be set before the first call.
 */

#include <cuda.h>
#include <cupti.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tests/test.h"

#define OK(call) TEST_EQ(call, 0)
#define RECORD_BYTES 256
#define RECORDS 20000

static size_t buffer_bytes = 64 << 10;
static int buffers_left = 1 << 20;
static int buffers_back;

static struct record {
	union {
		CUpti_Activity head;
		CUpti_ActivityAPI api;
		CUpti_ActivityKernel10 kernel;
		CUpti_ActivityMemcpy6 copy;
		CUpti_ActivityMemset4 set;
		CUpti_ActivitySynchronization2 sync;
		CUpti_ActivityExternalCorrelation external;
		CUpti_ActivityMemory4 memory;
		CUpti_ActivityStream stream;
		char bytes[RECORD_BYTES];
	};
} records[RECORDS];
static unsigned record_count;
static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = NULL;
	*max_records = 0;
	*size = buffer_bytes;
	if (__atomic_fetch_sub(&buffers_left, 1, __ATOMIC_RELAXED) > 0)
		*buffer = aligned_alloc(8, buffer_bytes);
}

static inline void CUPTIAPI take_buffer(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;
	CUptiResult status;

	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&records_lock);
	buffers_back++;
	while (!(status = cuptiActivityGetNextRecord(buffer, valid, &record))) {
		size_t left = valid - (size_t)((uint8_t *)record - buffer);

		if (record_count < RECORDS)
			memcpy(records[record_count++].bytes, record,
				left < RECORD_BYTES ? left : RECORD_BYTES);
	}
	pthread_mutex_unlock(&records_lock);
	TEST_EQ(status, CUPTI_ERROR_MAX_LIMIT_REACHED);
	free(buffer);
}

static inline uint64_t CUPTIAPI monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline unsigned count_records(CUpti_ActivityKind kind)
{
	unsigned i, count = 0;

	for (i = 0; i < record_count; i++)
		count += records[i].head.kind == kind;
	return count;
}

/* The n-th record of a kind, from 0; a zeroed one when there are fewer. */
static inline const struct record *get_record(CUpti_ActivityKind kind, unsigned n)
{
	static const struct record none;
	unsigned i;

	for (i = 0; i < record_count; i++)
		if (records[i].head.kind == kind && !n--)
			return &records[i];
	return &none;
}

static inline void CUPTIAPI no_callback(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

/* Subscribes and registers; false = cannot run here. Call it before anything of CUDA's. */
static inline bool start_client_with(
	CUpti_CallbackFunc callback, CUpti_SubscriberHandle *out_subscriber)
{
	if (cuptiSubscribe(out_subscriber, callback, NULL) != CUPTI_SUCCESS)
		return false;
	OK(cuptiActivityRegisterTimestampCallback(monotonic_ns));
	OK(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
	OK(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	return true;
}

static inline bool start_client(CUpti_SubscriberHandle *out_subscriber)
{
	return start_client_with(no_callback, out_subscriber);
}

/* A current context and a kernel that does nothing. */
static inline bool start_driver(CUfunction *out_kernel)
{
	static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
				  ".visible .entry idle()\n{\n\tret;\n}\n";
	CUcontext context;
	CUmodule module;

	if (cuInit(0) != CUDA_SUCCESS)
		return false;
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, ptx));
	return TEST_EQ(cuModuleGetFunction(out_kernel, module, "idle"), CUDA_SUCCESS);
}

static inline int launch(CUfunction kernel, CUstream stream)
{
	return cuLaunchKernel(kernel, 3, 2, 1, 64, 1, 1, 0, stream, NULL, NULL);
}

#endif
