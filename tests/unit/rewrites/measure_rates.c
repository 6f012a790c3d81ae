/* SPDX-License-Identifier: MIT */
/*
 * How often measuring is right, on series of made-up steps that go through the code as the
 * program's do: periods of 1 to 16 steps by which some take up to two and a half times as long, 5 %
 * of noise, one step in fifty five times as long, 10 % of drift in 1,000 steps, one to four
 * rewrites of which the first gains 20 %, loses 20 % or does nothing; 400 times each. The others do
 * nothing, lose, and gain: measure_rates [all]: all periods, all numbers of rewrites, 1,000 times
 * each
 */
#include <math.h>

#include "tests/test.h"
#include "tests/unit/rewrites/made_up_rewrites.h"

#define MOST_STEPS 18000u

static uint32_t trials = 400;

static uint64_t state = UINT64_C(88172645463325252);

static double chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

/* Of variance 1, and nearly normal. */
static double noise(void)
{
	return (chance() + chance() + chance() - 1.5) * 2;
}

struct series {
	uint32_t period;
	uint32_t phase;
	bool wave; /* else one long step in each period */
	const double *factors;
	uint32_t rewrites;
};

static double step_ns(const struct series *series, uint32_t step)
{
	const uint32_t at = (step + series->phase) % series->period;
	double time = 1 + 1e-4 * step;

	if (series->period > 1 && series->wave)
		time += 0.75 * (1 + cos(2 * M_PI * at / series->period));
	else if (series->period > 1 && at == 0)
		time += 1.5;
	time *= 1 + 0.05 * noise();
	if (chance() < 0.02)
		time *= 5;
	for (uint32_t i = 0; i < series->rewrites; i++) {
		if ((tfs_measure_on >> i & 1) == 0)
			continue;
		applied[i]++;
		time *= series->factors[i];
	}
	return time * 1e6;
}

/* Bit i: rewrite i is on when all is decided. */
static uint32_t train(const struct series *series)
{
	const uint32_t all = (1u << series->rewrites) - 1;

	decided = 0;
	tfs_measure_start(all);
	for (uint32_t step = 0; step < MOST_STEPS && decided != all; step++)
		tfs_measure_step((uint64_t)step_ns(series, step), 1000);
	return tfs_measure_on & all;
}

static const double faster = 1 / 1.2, slower = 1.2;

static void check_cell(uint32_t period, uint32_t rewrites, double first)
{
	const double factors[] = {first, 1, slower, faster};
	unsigned on[4] = {0};

	for (uint32_t i = 0; i < trials; i++) {
		const struct series series = {.period = period,
			.phase = (uint32_t)(chance() * period),
			.wave = i % 2 != 0,
			.factors = factors,
			.rewrites = rewrites};
		const uint32_t mask = train(&series);

		for (uint32_t k = 0; k < rewrites; k++)
			on[k] += mask >> k & 1;
	}
	bool good = true;
	for (uint32_t k = 0; k < rewrites; k++)
		good = good &&
		       (factors[k] < 1 ? on[k] * 100 >= 95 * trials : on[k] * 100 <= 3 * trials);
	TEST_TRUE(good);
	printf("period %2u, %u rewrites, the first by %.2f: kept", period, rewrites, first);
	for (uint32_t k = 0; k < rewrites; k++)
		printf(" %5.1f %%", on[k] * 100.0 / trials);
	printf("\n");
}

int main(int count, char **words)
{
	const bool all = count > 1 && strcmp(words[1], "all") == 0;
	unsigned cells = 0;

	trials = all ? 1000 : 400;
	for (uint32_t period = 1; period <= 16; period += all ? 1 : 15) {
		for (uint32_t rewrites = 1; rewrites <= 4; rewrites += all ? 1 : 3) {
			check_cell(period, rewrites, faster);
			check_cell(period, rewrites, 1);
			if (all || rewrites == 1)
				check_cell(period, rewrites, slower);
			cells += all || rewrites == 1 ? 3 : 2;
		}
	}
	printf("%u cells of %u series\n", cells, trials);
	return test_result();
}
