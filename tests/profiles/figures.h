/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROFILES_FIGURES_H
#define TFS_TESTS_PROFILES_FIGURES_H

/*
 * Tables of figures, each measured through the runtime's own calls and held against a range: median
 * and ninetieth percentile, in microseconds, or megabytes per second where it says so.
 */

#include "profile_case.h"

#define MIB ((size_t)1 << 20)

struct range {
	double low, high;
};

/* Of the median; p90: of the ninetieth percentile, where the recordings tell it. */
struct row {
	const char *what;
	void (*measure)(struct samples *s);
	struct range median[2], p90[2]; /* A100, H100 */
};

#define ANY                                                                                        \
	{                                                                                          \
		0, 1e12                                                                            \
	}
#define SAME(low, high)                                                                            \
	{                                                                                          \
		{low, high},                                                                       \
		{                                                                                  \
			low, high                                                                  \
		}                                                                                  \
	}

static inline bool within(
	const char *what, const char *which, double got, const struct range *range)
{
	const bool held = got >= range->low && got <= range->high;

	if (!held)
		printf("%s: %s is %.2f, not within %.2f to %.2f\n", what, which, got, range->low,
			range->high);
	return test_report(held);
}

/* Prints and checks every row for a profile, "a100" or "h100". */
static inline void figures_check(const struct row *rows, size_t count, const char *profile)
{
	const int which = strcmp(profile, "h100") == 0;

	printf("%-30s %12s %12s\n", profile, "median", "p90");
	for (size_t i = 0; i < count; i++) {
		struct samples s = {.count = 0};

		rows[i].measure(&s);

		const double median = quantile(&s, 0.5) / 1e3, p90 = quantile(&s, 0.9) / 1e3;

		printf("%-30s %12.2f %12.2f\n", rows[i].what, median, p90);
		within(rows[i].what, "median", median, &rows[i].median[which]);
		within(rows[i].what, "p90", p90, &rows[i].p90[which]);
	}
}

#endif
