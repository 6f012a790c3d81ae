/* SPDX-License-Identifier: MIT */
#include <curand.h>

#include "shim/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_curand

TFS_PLAIN_HOOK(curandStatus_t, curandCreateGenerator,
	(curandGenerator_t * generator, curandRngType_t rng_type), (generator, rng_type))
TFS_PLAIN_HOOK(curandStatus_t, curandDestroyGenerator, (curandGenerator_t generator), (generator))
TFS_PLAIN_HOOK(curandStatus_t, curandSetPseudoRandomGeneratorSeed,
	(curandGenerator_t generator, unsigned long long seed), (generator, seed))
TFS_PLAIN_HOOK(curandStatus_t, curandSetStream, (curandGenerator_t generator, cudaStream_t stream),
	(generator, stream))
TFS_PLAIN_HOOK(curandStatus_t, curandGenerate,
	(curandGenerator_t generator, unsigned int *outputPtr, size_t num),
	(generator, outputPtr, num))
TFS_PLAIN_HOOK(curandStatus_t, curandGenerateUniform,
	(curandGenerator_t generator, float *outputPtr, size_t num), (generator, outputPtr, num))
TFS_PLAIN_HOOK(curandStatus_t, curandGenerateNormal,
	(curandGenerator_t generator, float *outputPtr, size_t n, float mean, float stddev),
	(generator, outputPtr, n, mean, stddev))

#define FUNCTIONS(X)                                                                               \
	X(curandCreateGenerator, handle)                                                           \
	X(curandDestroyGenerator, handle)                                                          \
	X(curandSetPseudoRandomGeneratorSeed, handle)                                              \
	X(curandSetStream, handle)                                                                 \
	X(curandGenerate, random)                                                                  \
	X(curandGenerateUniform, random)                                                           \
	X(curandGenerateNormal, random)

FUNCTIONS(TFS_FUNCTION_ROW)
