/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CURAND_GENERATOR_H
#define TFS_TESTS_SIM_CURAND_GENERATOR_H

/*
 * Random numbers of the simulated cuRAND. The i-th 64-bit number of a sequence is a hash of seed
 * and i, so that it does not matter who computes which part when. All generator types give the
 * same sequence, seeded differently.
 */

#include <curand.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/core/core.h"

#define TFS_RAND_API __attribute__((visibility("default")))

struct curandGenerator_st {
	curandRngType_t type;
	bool host;
	cudaStream_t stream;
	uint64_t seed;
	uint64_t next; /* position in the sequence */
};

enum tfs_rand_kind { TFS_RAND_BITS, TFS_RAND_UNIFORM, TFS_RAND_NORMAL, TFS_RAND_LOG_NORMAL };

/* One call's work; width is the size of an element, 4 or 8. */
struct tfs_rand_fill {
	uint64_t seed, first;
	enum tfs_rand_kind kind;
	int width;
	void *out;
	size_t n;
	double mean, deviation;
};

/* Writes the numbers; args is a struct tfs_rand_fill. */
void tfs_rand_run(void *args);

#endif
