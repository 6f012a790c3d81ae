/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core_profile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/sim/profiles_list.h"

#define X(name) extern const struct sim_profile sim_profile_##name;
TFS_PROFILES(X)
#undef X

static const struct sim_profile *const profiles[] = {
#define X(name) &sim_profile_##name,
	TFS_PROFILES(X)
#undef X
};

const struct sim_profile *sim_profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i]->name, name) == 0)
			return profiles[i];
	return NULL;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/*
 * Quantiles of the standard normal distribution at (i + 1/2) / 32, in units of that at 9/10: a
 * logarithmic normal distribution through the two figures, without its far tails.
 */
static const double quantiles[16] = {0.0306, 0.0919, 0.1538, 0.2167, 0.2810, 0.3473, 0.4162, 0.4885,
	0.5653, 0.6481, 0.7388, 0.8408, 0.9597, 1.1063, 1.3077, 1.6807};

double sim_figure_draw(const struct sim_figure *figure, uint64_t salt)
{
	const uint64_t random = mix(salt);
	const double z = quantiles[random & 15];

	if (figure->p90_ns <= figure->median_ns || figure->median_ns <= 0)
		return figure->median_ns;
	return figure->median_ns * pow(figure->p90_ns / figure->median_ns, random & 16 ? z : -z);
}
