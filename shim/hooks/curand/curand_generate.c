/* SPDX-License-Identifier: MIT */
#include <curand.h>

#include "shim/record/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_curand

TFS_PLAIN_HOOK(curandStatus_t, curandCreateGenerator,
	(curandGenerator_t * generator, curandRngType_t rng_type), (generator, rng_type))
TFS_PLAIN_HOOK(curandStatus_t, curandDestroyGenerator, (curandGenerator_t generator), (generator))
TFS_PLAIN_HOOK(curandStatus_t, curandSetPseudoRandomGeneratorSeed,
	(curandGenerator_t generator, unsigned long long seed), (generator, seed))
TFS_PLAIN_HOOK(curandStatus_t, curandSetStream, (curandGenerator_t generator, cudaStream_t stream),
	(generator, stream))
#define FUNCTIONS(X)                                                                               \
	X(curandCreateGenerator, handle_create)                                                    \
	X(curandDestroyGenerator, handle_destroy)                                                  \
	X(curandSetPseudoRandomGeneratorSeed, handle)                                              \
	X(curandSetStream, handle)

FUNCTIONS(TFS_FUNCTION_ROW)
