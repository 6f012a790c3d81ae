/* SPDX-License-Identifier: MIT */
/* cuRAND gives numbers of the promised range and distribution, the same for the same seed. */
#include <curand.h>

#include "tests/libraries/lib_check.h"

enum { N = 100000 };

static void moments(const float *v, size_t n, double *out_mean, double *out_deviation)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)v[i];
	*out_mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += ((double)v[i] - *out_mean) * ((double)v[i] - *out_mean);
	*out_deviation = sqrt(square / (double)n);
}

int main(void)
{
	static float a[N], b[N];
	float *device = lib_upload(NULL, N);
	curandGenerator_t g, host;
	double mean, deviation;

	LIB_EQ(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT), 0);
	LIB_EQ(curandSetPseudoRandomGeneratorSeed(g, 1234), 0);
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(a, device, N);
	for (size_t i = 0; i < N; i++)
		if (!(a[i] > 0.0f && a[i] <= 1.0f)) {
			LIB_TRUE(a[i] > 0.0f && a[i] <= 1.0f);
			break;
		}
	moments(a, N, &mean, &deviation);
	LIB_TRUE(fabs(mean - 0.5) < 0.005 && fabs(deviation - 0.288675) < 0.003);
	/* The sequence goes on, and begins again with the seed. */
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(b, device, N);
	LIB_TRUE(memcmp(a, b, sizeof(a)) != 0);
	LIB_EQ(curandSetPseudoRandomGeneratorSeed(g, 1234), 0);
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(b, device, N);
	LIB_TRUE(memcmp(a, b, sizeof(a)) == 0);
	LIB_EQ(curandSetPseudoRandomGeneratorSeed(g, 99), 0);
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(b, device, N);
	LIB_TRUE(memcmp(a, b, sizeof(a)) != 0);
	LIB_EQ(curandGenerateNormal(g, device, N, 3.0f, 2.0f), 0);
	lib_download(a, device, N);
	moments(a, N, &mean, &deviation);
	LIB_TRUE(fabs(mean - 3.0) < 0.03 && fabs(deviation - 2.0) < 0.03);
	LIB_EQ(curandGenerateNormal(g, device, N - 1, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
	LIB_EQ(curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_PHILOX4_32_10), 0);
	LIB_EQ(curandGenerateUniform(host, a, N), 0);
	moments(a, N, &mean, &deviation);
	LIB_TRUE(fabs(mean - 0.5) < 0.005);
	LIB_EQ(curandDestroyGenerator(host), 0);
	LIB_EQ(curandDestroyGenerator(g), 0);
	cudaFree(device);
	return lib_result();
}
