/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/curand/curand_generator.h"

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool host)
{
	struct curandGenerator_st *g;

	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	if (type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT)
		return CURAND_STATUS_TYPE_ERROR;
	if (tfsim_device_count() < 1)
		return CURAND_STATUS_INITIALIZATION_FAILED;
	g = calloc(1, sizeof(*g));
	if (!g)
		return CURAND_STATUS_ALLOCATION_FAILED;
	g->type = type;
	g->host = host;
	*generator = g;
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandCreateGenerator(
	curandGenerator_t *generator, curandRngType_t rng_type)
{
	return create(generator, rng_type, false);
}

TFS_RAND_API curandStatus_t curandCreateGeneratorHost(
	curandGenerator_t *generator, curandRngType_t rng_type)
{
	return create(generator, rng_type, true);
}

TFS_RAND_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	free(generator);
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandGetVersion(int *version)
{
	if (!version)
		return CURAND_STATUS_OUT_OF_RANGE;
	*version = CURAND_VERSION;
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
	static const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};

	if (!value || (int)type < 0 || type > PATCH_LEVEL)
		return CURAND_STATUS_OUT_OF_RANGE;
	*value = parts[type];
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	generator->stream = stream;
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandSetPseudoRandomGeneratorSeed(
	curandGenerator_t generator, unsigned long long seed)
{
	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	generator->seed = seed;
	generator->next = 0;
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandSetGeneratorOffset(
	curandGenerator_t generator, unsigned long long offset)
{
	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	generator->next = offset;
	return CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandSetGeneratorOrdering(
	curandGenerator_t generator, curandOrdering_t order)
{
	if (!generator)
		return CURAND_STATUS_NOT_INITIALIZED;
	return order >= CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_OUT_OF_RANGE
						      : CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
	return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

static curandStatus_t generate(curandGenerator_t g, struct tfs_rand_fill f)
{
	static const char *const names[] = {"tfsim_curand_generate", "tfsim_curand_uniform",
		"tfsim_curand_normal", "tfsim_curand_log_normal"};
	struct tfsim_work w = {.kind = TFSIM_KERNEL, .name = names[f.kind], .run = tfs_rand_run};

	if (!g)
		return CURAND_STATUS_NOT_INITIALIZED;
	if (f.kind >= TFS_RAND_NORMAL && f.n % 2)
		return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
	if (f.n == 0)
		return CURAND_STATUS_SUCCESS;
	f.seed = (g->seed + 1) * 0xd1342543de82ef95u + (uint64_t)g->type;
	f.first = g->next;
	g->next += f.n;
	if (g->host) {
		tfs_rand_run(&f);
		return CURAND_STATUS_SUCCESS;
	}
	w.args = &f;
	w.args_size = sizeof(f);
	w.cost_ns = tfsim_cost_kernel((uint64_t)f.n * (uint64_t)f.width,
		(uint64_t)f.n * (f.kind >= TFS_RAND_NORMAL ? 1500 : 150));
	w.grid = (dim3){(unsigned)(f.n / 256 + 1), 1, 1};
	w.block = (dim3){256, 1, 1};
	w.spans[0] = (struct tfsim_span){f.out, f.n * (size_t)f.width, true};
	return tfsim_enqueue(g->stream, &w) ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

TFS_RAND_API curandStatus_t curandGenerate(
	curandGenerator_t generator, unsigned int *outputPtr, size_t num)
{
	return generate(
		generator, (struct tfs_rand_fill){
				   .kind = TFS_RAND_BITS, .width = 4, .out = outputPtr, .n = num});
}

TFS_RAND_API curandStatus_t curandGenerateLongLong(
	curandGenerator_t generator, unsigned long long *outputPtr, size_t num)
{
	/* Documented: for the 64-bit quasi-random generators only. */
	(void)outputPtr;
	(void)num;
	return generator ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

TFS_RAND_API curandStatus_t curandGenerateUniform(
	curandGenerator_t generator, float *outputPtr, size_t num)
{
	return generate(generator,
		(struct tfs_rand_fill){
			.kind = TFS_RAND_UNIFORM, .width = 4, .out = outputPtr, .n = num});
}

TFS_RAND_API curandStatus_t curandGenerateUniformDouble(
	curandGenerator_t generator, double *outputPtr, size_t num)
{
	return generate(generator,
		(struct tfs_rand_fill){
			.kind = TFS_RAND_UNIFORM, .width = 8, .out = outputPtr, .n = num});
}

TFS_RAND_API curandStatus_t curandGenerateNormal(
	curandGenerator_t generator, float *outputPtr, size_t n, float mean, float stddev)
{
	return generate(generator, (struct tfs_rand_fill){.kind = TFS_RAND_NORMAL,
					   .width = 4,
					   .out = outputPtr,
					   .n = n,
					   .mean = (double)mean,
					   .deviation = (double)stddev});
}

TFS_RAND_API curandStatus_t curandGenerateNormalDouble(
	curandGenerator_t generator, double *outputPtr, size_t n, double mean, double stddev)
{
	return generate(generator, (struct tfs_rand_fill){.kind = TFS_RAND_NORMAL,
					   .width = 8,
					   .out = outputPtr,
					   .n = n,
					   .mean = mean,
					   .deviation = stddev});
}

TFS_RAND_API curandStatus_t curandGenerateLogNormal(
	curandGenerator_t generator, float *outputPtr, size_t n, float mean, float stddev)
{
	return generate(generator, (struct tfs_rand_fill){.kind = TFS_RAND_LOG_NORMAL,
					   .width = 4,
					   .out = outputPtr,
					   .n = n,
					   .mean = (double)mean,
					   .deviation = (double)stddev});
}

TFS_RAND_API curandStatus_t curandGenerateLogNormalDouble(
	curandGenerator_t generator, double *outputPtr, size_t n, double mean, double stddev)
{
	return generate(generator, (struct tfs_rand_fill){.kind = TFS_RAND_LOG_NORMAL,
					   .width = 8,
					   .out = outputPtr,
					   .n = n,
					   .mean = mean,
					   .deviation = stddev});
}
