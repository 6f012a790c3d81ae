/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "tests/sim/curand/curand_generator.h"

static uint64_t number(uint64_t seed, uint64_t i)
{
	uint64_t x = seed ^ (i + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* In (0, 1], as documented. */
static double uniform(uint64_t seed, uint64_t i)
{
	return ((double)(number(seed, i) >> 11) + 1.0) * 0x1p-53;
}

/* Box and Muller: numbers 2k and 2k + 1 share one pair of uniform ones. */
static double normal(uint64_t seed, uint64_t i)
{
	uint64_t pair = i & ~(uint64_t)1;
	double radius = sqrt(-2.0 * log(uniform(seed, pair)));
	double angle = 6.283185307179586 * uniform(seed, pair + 1);

	return radius * (i & 1 ? sin(angle) : cos(angle));
}

static double value(const struct tfs_rand_fill *f, uint64_t i)
{
	double v;

	if (f->kind == TFS_RAND_UNIFORM)
		return uniform(f->seed, i);
	v = f->mean + f->deviation * normal(f->seed, i);
	return f->kind == TFS_RAND_LOG_NORMAL ? exp(v) : v;
}

/* A float may round up to 1, which is allowed, but not down to 0. */
static float to_float(const struct tfs_rand_fill *f, double v)
{
	float r = (float)v;

	return f->kind == TFS_RAND_UNIFORM && r <= 0.0f ? 0x1p-33f : r;
}

void tfs_rand_run(void *args)
{
	const struct tfs_rand_fill *f = args;

	for (size_t k = 0; k < f->n; k++) {
		uint64_t i = f->first + k;

		if (f->kind == TFS_RAND_BITS && f->width == 8)
			((uint64_t *)f->out)[k] = number(f->seed, i);
		else if (f->kind == TFS_RAND_BITS)
			((uint32_t *)f->out)[k] = (uint32_t)(number(f->seed, i) >> 32);
		else if (f->width == 8)
			((double *)f->out)[k] = value(f, i);
		else
			((float *)f->out)[k] = to_float(f, value(f, i));
	}
}
