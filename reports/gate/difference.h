/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_DIFFERENCE_H
#define TFS_REPORTS_GATE_DIFFERENCE_H

/*
 * What one run of a program has fixed of an earlier one, what is new in it and what has changed, in
 * words, in the order of printing.
 */

#include "reports/gate/baseline.h"
#include "reports/model/region.h"

struct tfs_difference_row {
	const struct tfs_rule *rule;
	const char *place;
	const char *call;  /* "" = none */
	const char *more;  /* how it changed; "" = it did not */
	const char *costs; /* "99.0 us per step, modelled"; "" = not known */
};

struct tfs_difference_part {
	const char *title;
	const struct tfs_difference_row *rows;
	size_t count;
};

/* A step's time in both. */
struct tfs_difference_time {
	const char *name;    /* "as written" */
	const char *between; /* "2.00 ms -> 1.90 ms"; NULL = not measurable, as `text` says */
	const char *text;    /* "5.0 % shorter, by 100 us (90 us to 110 us)" */
};

struct tfs_difference {
	const struct tfs_model *before, *now;
	bool simulated;
	struct tfs_difference_time times[2];
	struct tfs_difference_part parts[5]; /* none is empty */
	size_t part_count;
	struct tfs_region region;
};

/* Compares two runs, which must outlive the difference, both ways. Unless they are comparable there
 * is nothing in it. */
enum tfs_apart tfs_difference_find(const struct tfs_model *before, const struct tfs_model *now,
	struct tfs_difference *out_difference);
void tfs_difference_finish(struct tfs_difference *difference);

#endif
