/* SPDX-License-Identifier: MIT */
#include "reports/model/headline.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

double tfs_headline_errors(uint64_t steps)
{
	/* Student's distribution for one degree of freedom and more. */
	static const double few[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
		2.20, 2.18, 2.16, 2.14};

	if (steps < 2)
		return NAN;
	return steps - 2 < sizeof(few) / sizeof(few[0]) ? few[steps - 2] : steps < 31 ? 2.13 : 2.04;
}

struct tfs_span tfs_headline_written(double written_ns, double half_ns, struct tfs_span added)
{
	const double ns = written_ns - added.ns;
	const double low = ns - hypot(half_ns, added.high_ns - added.ns);

	return (struct tfs_span){
		ns, low < 0 ? 0 : low, ns + hypot(half_ns, added.ns - added.low_ns)};
}

struct tfs_span tfs_headline_sum(struct tfs_span one, struct tfs_span other)
{
	const double ns = one.ns + other.ns;

	return (struct tfs_span){ns, ns - hypot(one.ns - one.low_ns, other.ns - other.low_ns),
		ns + hypot(one.high_ns - one.ns, other.high_ns - other.ns)};
}

static double within(double value, double least, double most)
{
	/* Not fmin() and fmax(): what is not known stays so. */
	if (value < least)
		return least;
	return value > most ? most : value;
}

/* As written over that, where so much of it is saved. */
static double factor_of(double saved, double written_ns)
{
	const double share = within(saved, 0, written_ns) / written_ns;

	return 1 / (1 - share);
}

struct tfs_model_time tfs_headline_state(struct tfs_span written, struct tfs_span saved)
{
	const double less = saved.ns - saved.low_ns, more = saved.high_ns - saved.ns;
	const double share = saved.ns / written.ns;
	const double ns = within(written.ns - saved.ns, 0, written.ns);
	/* A share of what is not known exactly. Of one step there is no interval: the factor is of
	 * that step, and what is saved of it may still be nothing. */
	const bool known = !isnan(written.low_ns) && !isnan(written.high_ns);
	const double doubt_low = known ? share * (written.ns - written.low_ns) : 0;
	const double doubt_high = known ? share * (written.high_ns - written.ns) : 0;

	return (struct tfs_model_time){
		.ns = ns,
		.low_ns = within(ns - hypot(written.ns - written.low_ns, more), 0, ns),
		.high_ns =
			within(ns + hypot(written.high_ns - written.ns, less), ns, written.high_ns),
		.factor = factor_of(saved.ns, written.ns),
		.factor_low = factor_of(saved.ns - hypot(less, doubt_high), written.ns),
		.factor_high = factor_of(saved.ns + hypot(more, doubt_low), written.ns),
	};
}

void tfs_headline_limit(struct tfs_model_time *state, struct tfs_span written, double least_ns)
{
	const double least = fmin(least_ns, written.ns);

	if (state->ns < least) {
		state->ns = least;
		state->high_ns = fmax(state->high_ns, least);
		state->factor = written.ns / least;
		state->factor_low = fmin(state->factor_low, state->factor);
	}
	if (isnan(state->low_ns))
		state->factor_high = fmin(state->factor_high, written.ns / least);
	if (!(state->low_ns < least))
		return;
	state->low_ns = least;
	state->factor_high = fmin(state->factor_high, written.high_ns / least);
}

struct tfs_model_time tfs_headline_unknown(const char *why)
{
	return (struct tfs_model_time){NAN, NAN, NAN, NAN, NAN, NAN, why, NULL};
}
