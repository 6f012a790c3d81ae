/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_GPU_FACTS_FACT_H
#define TFS_TESTS_GPU_FACTS_FACT_H

/*
 * For the programs that ask a device what documentation leaves open (facts_*.c): each answer is a
 * line "fact TOPIC NAME VALUE", and none is right or wrong. They run on the simulated device too,
 * so that its answers can be compared; what it cannot know is said to be "not simulated".
 */

#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <time.h>

#include "tests/test.h"

/* Prints one answer; name is one word. */
__attribute__((format(printf, 3, 4))) static inline void fact(
	const char *topic, const char *name, const char *format, ...)
{
	va_list values;

	printf("fact %s %s ", topic, name);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	printf("\n");
	fflush(stdout);
}

static inline uint64_t fact_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline bool fact_device(void)
{
	int count = 0;

	return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

static inline bool fact_simulated(void)
{
	struct cudaDeviceProp properties;

	return cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
	       strstr(properties.name, "simulated");
}

static inline int fact_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values; count is not 0. */
static inline double fact_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), fact_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* A kernel that does nothing, and one that runs for so many nanoseconds; PTX text. */
static const char fact_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry idle()\n{\nret;\n}\n"
	".visible .entry spin(.param .u64 p0)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nmov.u64 %rd2, %globaltimer;\nadd.s64 %rd3, %rd2, %rd1;\n"
	"$L:\nmov.u64 %rd4, %globaltimer;\nsetp.lt.u64 %p1, %rd4, %rd3;\n@%p1 bra $L;\nret;\n}\n";

#endif
