/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <string.h>

#include "tests/sim/core/core_private.h"

/* More than this of one allocation is poisoned at both ends only: it would be committed, which
 * takes longer than most tests. */
#define POISON_LIMIT ((size_t)4 << 20)

uint64_t tfsim_hostile_seed(void)
{
	sim_enter();
	return sim.hostile;
}

uint32_t tfsim_hostile_pick(uint64_t salt, uint32_t limit)
{
	uint64_t x;

	sim_enter();
	if (sim.hostile == 0 || limit == 0)
		return 0;
	x = sim.hostile * 0x9e3779b97f4a7c15u + salt * 0xbf58476d1ce4e5b9u + 1;
	x ^= x >> 31;
	x *= 0x94d049bb133111ebu;
	x ^= x >> 29;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 32;
	return (uint32_t)(x % limit);
}

/* All ones is a NaN in every floating-point format and an absurd index in every integer one. */
static void fill(void *address, size_t size)
{
	memset(address, 0xff, size);
}

void sim_poison(void *address, size_t size)
{
	if (sim.hostile == 0 || !address)
		return;
	if (size <= POISON_LIMIT) {
		fill(address, size);
		return;
	}
	fill(address, POISON_LIMIT / 2);
	fill((char *)address + size - POISON_LIMIT / 2, POISON_LIMIT / 2);
}

void tfsim_scribble(void *address, size_t size)
{
	sim_enter();
	sim_poison(address, size);
}
