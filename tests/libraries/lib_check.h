/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_LIB_CHECK_H
#define TFS_TESTS_PROGRAMS_LIB_CHECK_H

/*
 * For the programs that test the libraries (lib_*.c): checks that print and count, device buffers
 * made from host arrays, comparison with a reference. Main ends with "return lib_result();".
 */

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int lib_failures;

/* True when both are equal; else prints both. */
#define LIB_EQ(got, want) lib_eq(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
/* True when the condition holds. */
#define LIB_TRUE(cond) lib_eq(__FILE__, __LINE__, #cond, !!(cond), 1)

static inline bool lib_eq(
	const char *file, int line, const char *what, long long got, long long want)
{
	if (got == want)
		return true;
	lib_failures++;
	printf("%s:%d: %s is %lld, not %lld\n", file, line, what, got, want);
	return false;
}

/* Whether the device is the simulated one in its hostile mode. */
static inline bool lib_hostile(void)
{
	const char *seed = getenv("TFSIM_HOSTILE");

	return seed && strcmp(seed, "0") != 0;
}

static inline int lib_result(void)
{
	if (lib_failures)
		printf("%d checks failed\n", lib_failures);
	return lib_failures ? 1 : 0;
}

/* A reproducible array of values in [-1, 1). */
static inline float *lib_values(size_t n, uint32_t seed)
{
	float *v = malloc((n ? n : 1) * sizeof(*v));

	for (size_t i = 0; v && i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		v[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
	}
	return v;
}

/* The same value everywhere. */
static inline float *lib_filled(size_t n, float value)
{
	float *v = malloc((n ? n : 1) * sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		v[i] = value;
	return v;
}

/* Device memory, with a copy of the n floats of host unless that is NULL. */
static inline float *lib_upload(const float *host, size_t n)
{
	void *p = NULL;

	LIB_EQ(cudaMalloc(&p, (n ? n : 1) * sizeof(float)), cudaSuccess);
	if (p && host)
		LIB_EQ(cudaMemcpy(p, host, n * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
	return p;
}

/* Waits for the device and copies n floats into host. */
static inline void lib_download(float *host, const float *device, size_t n)
{
	LIB_EQ(cudaDeviceSynchronize(), cudaSuccess);
	LIB_EQ(cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
}

/* Compares n floats; the tolerance is relative to the larger of 1 and the reference. */
static inline bool lib_near(
	const char *what, const float *got, const double *want, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++) {
		double scale = fabs(want[i]) > 1.0 ? fabs(want[i]) : 1.0;

		if (fabs((double)got[i] - want[i]) <= tolerance * scale)
			continue;
		lib_failures++;
		printf("%s: element %zu is %.9g, not %.9g\n", what, i, (double)got[i], want[i]);
		return false;
	}
	return true;
}

#endif
