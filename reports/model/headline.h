/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_HEADLINE_H
#define TFS_REPORTS_MODEL_HEADLINE_H

/*
 * How fast the program is as written, how fast now, and how fast it can be: the time of a step in
 * three states, each with an interval of 95 %. A state that is not known says why. Pure; any
 * thread.
 */

#include <stdint.h>

/* A step's time; NaN = not known. */
struct tfs_model_time {
	double ns;
	double low_ns; /* NaN: of one step there is no interval */
	double high_ns;
	double factor; /* as written / this */
	double factor_low;
	double factor_high;
	const char *why;  /* not measurable, because; NULL = it is known */
	const char *from; /* what it rests on; NULL where it is not known */
};

/* Time with an interval around it, or less time. */
struct tfs_span {
	double ns;
	double low_ns;
	double high_ns;
};

struct tfs_model_headline {
	struct tfs_model_time as_written;
	struct tfs_model_time now;
	struct tfs_model_time possible;
	struct tfs_span gained; /* from as written to now: what rewrites are proven to gain */
	struct tfs_span open;   /* from now to possible: what fixing the findings saves */
	unsigned causes;        /* that `open` is of */
	const char *text;       /* all of that in one line; NULL = no step is known */
	const char *rewrites;   /* what rewrites would do that are off; NULL = some may act */
};

/* Standard errors on either side of the mean of so many steps that hold it with 95 %; NaN of one.
 */
double tfs_headline_errors(uint64_t steps);

/* A mean step, known to `half_ns` on either side (NaN: there is no interval), less what recording
 * adds to a step. */
struct tfs_span tfs_headline_written(double written_ns, double half_ns, struct tfs_span added);

/* Several savings one on top of the other: doubts that have nothing to do with each other. */
struct tfs_span tfs_headline_sum(struct tfs_span one, struct tfs_span other);

/* The state of steps that take `saved` less than as written: never more, and never below 0. */
struct tfs_model_time tfs_headline_state(struct tfs_span written, struct tfs_span saved);

/* Its interval without what is shorter than `least_ns`: no step is, whatever is changed. */
void tfs_headline_limit(struct tfs_model_time *state, struct tfs_span written, double least_ns);

/* One that is not known. */
struct tfs_model_time tfs_headline_unknown(const char *why);

#endif
