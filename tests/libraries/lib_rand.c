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

static double of(const void *memory, bool wide, size_t i)
{
	return wide ? ((const double *)memory)[i] : (double)((const float *)memory)[i];
}

/* Mean and deviation of what a call wrote, or of its logarithms. */
static void check_moments(const char *what, const void *device, bool wide, bool logarithms,
	double mean, double deviation)
{
	const size_t size = wide ? sizeof(double) : sizeof(float);
	void *got = malloc(N * size);
	float *v = lib_values(N, 1);
	double m, d;

	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(got, device, N * size, cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < N; i++)
		v[i] = (float)(logarithms ? log(of(got, wide, i)) : of(got, wide, i));
	moments(v, N, &m, &d);
	if (!LIB_TRUE(fabs(m - mean) < 0.02 && fabs(d - deviation) < 0.02))
		printf("%s: %g and %g\n", what, m, d);
	free(v);
	free(got);
}

static void check_kinds(curandGenerator_t g)
{
	float *memory = lib_upload(NULL, 2 * N);
	double *wide = (double *)(void *)memory;
	unsigned *bits = malloc(N * sizeof(*bits));
	double set[32] = {0};

	LIB_EQ(curandGenerateUniformDouble(g, wide, N), 0);
	check_moments("uniform", wide, true, false, 0.5, 0.288675);
	LIB_EQ(curandGenerateNormalDouble(g, wide, N, 0.5, 1.5), 0);
	check_moments("normal", wide, true, false, 0.5, 1.5);
	LIB_EQ(curandGenerateLogNormal(g, memory, N, 0.5f, 0.75f), 0);
	check_moments("log-normal", memory, false, true, 0.5, 0.75);
	LIB_EQ(curandGenerateLogNormalDouble(g, wide, N, -0.5, 1), 0);
	check_moments("log-normal", wide, true, true, -0.5, 1);
	LIB_EQ(curandGenerateLogNormal(g, memory, N - 1, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
	/* Every bit of a number is as often set as not. */
	LIB_EQ(curandGenerate(g, (unsigned *)(void *)memory, N), 0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(bits, memory, N * sizeof(*bits), cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < N; i++)
		for (int k = 0; k < 32; k++)
			set[k] += bits[i] >> k & 1;
	for (int k = 0; k < 32; k++)
		LIB_TRUE(fabs(set[k] / N - 0.5) < 0.02);
	free(bits);
	LIB_EQ(cudaFree(memory), 0);
}

/* An offset is how many numbers of the sequence are left out. */
static void check_offset(curandGenerator_t g)
{
	enum { LEFT = 1000 };
	static float a[N], b[N];
	float *device = lib_upload(NULL, N);

	LIB_EQ(curandSetPseudoRandomGeneratorSeed(g, 77), 0);
	LIB_EQ(curandSetGeneratorOffset(g, 0), 0);
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(a, device, N);
	LIB_EQ(curandSetGeneratorOffset(g, LEFT), 0);
	LIB_EQ(curandGenerateUniform(g, device, N), 0);
	lib_download(b, device, N);
	LIB_EQ(memcmp(a + LEFT, b, (N - LEFT) * sizeof(float)), 0);
	LIB_EQ(cudaFree(device), 0);
}

/* What is of quasi-random generators is not for others. */
static void check_refused(curandGenerator_t g)
{
	unsigned long long number;
	int version = 0, major = 0;

	LIB_EQ(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_DEFAULT), 0);
	LIB_EQ(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT),
		CURAND_STATUS_OUT_OF_RANGE);
	LIB_EQ(curandGenerateLongLong(g, &number, 1), CURAND_STATUS_TYPE_ERROR);
	LIB_EQ(curandGenerateSeeds(g), 0);
	LIB_EQ(curandGetVersion(&version), 0);
	LIB_EQ(curandGetProperty(MAJOR_VERSION, &major), 0);
	LIB_EQ(version / 1000, major);
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
	check_kinds(g);
	check_offset(g);
	check_refused(g);
	LIB_EQ(curandDestroyGenerator(g), 0);
	cudaFree(device);
	return lib_result();
}
