/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <time.h>

#include "tests/sim/cupti/cupti_private.h"

/* Clocks closer than this are one clock, read twice. */
#define SAME_CLOCK_NS 20000
#define JUMP_NS 1000000000

static uint64_t realtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Atomic(CUpti_TimestampCallbackFunc) clock_now = realtime;
static atomic_llong offset_ns;
static atomic_bool measured;

/* The pair of readings with the least time between them tells best. */
static void measure(void)
{
	CUpti_TimestampCallbackFunc now = atomic_load(&clock_now);
	uint64_t best = UINT64_MAX;
	long long offset = 0;
	unsigned i;

	for (i = 0; i < 8; i++) {
		uint64_t before = tfsim_now_ns();
		uint64_t then = now();
		uint64_t after = tfsim_now_ns();

		if (after - before < best) {
			best = after - before;
			offset = (long long)(then - before - (after - before) / 2);
		}
	}
	if (offset > -SAME_CLOCK_NS && offset < SAME_CLOCK_NS)
		offset = 0;
	atomic_store(&offset_ns, offset);
	atomic_store(&measured, true);
}

/* The client's clock may be another one from some moment on: it is asked each time. */
static bool has_jumped(void)
{
	const long long offset = (long long)(atomic_load(&clock_now)() - tfsim_now_ns());

	return llabs(offset - atomic_load(&offset_ns)) > JUMP_NS;
}

uint64_t cupti_time(uint64_t monotonic_ns)
{
	if (!monotonic_ns)
		return 0;
	if (!atomic_load(&measured) || has_jumped())
		measure();
	return monotonic_ns + (uint64_t)atomic_load(&offset_ns);
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&clock_now, funcTimestamp);
	measure();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	CUpti_TimestampCallbackFunc now = atomic_load(&clock_now);

	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = now();
	return CUPTI_SUCCESS;
}
