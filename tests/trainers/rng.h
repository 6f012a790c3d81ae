/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RNG_H
#define TFS_TESTS_TRAINERS_RNG_H

/*
 * A small random generator with the same sequence on every machine, so that a seed names a
 * data set, a start of the weights and an order of the batches. The state is the caller's.
 */

#include <stdint.h>

/* The next 32 random bits; any seed, 0 included, is a good start. */
static inline uint32_t rng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)(z >> 32);
}

/* A number from low up to, not including, high. */
static inline float rng_uniform(uint64_t *state, float low, float high)
{
	return low + (high - low) * ((float)(rng_next(state) >> 8) / 16777216.0f);
}

/* An index below count, which is not 0. */
static inline uint32_t rng_below(uint64_t *state, uint32_t count)
{
	return (uint32_t)(((uint64_t)rng_next(state) * count) >> 32);
}

#endif
