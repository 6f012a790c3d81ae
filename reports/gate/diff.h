/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_DIFF_H
#define TFS_REPORTS_GATE_DIFF_H

/*
 * What one run of a program has fixed of an earlier one, what is new in it and what has changed, in
 * words, in the order of printing.
 */

#include "reports/gate/baseline.h"
#include "rules/support/arena.h"

struct tfs_diff_row {
	const struct tfs_rule_text *rule;
	const char *place;
	const char *call;  /* "" = none */
	const char *more;  /* how it changed; "" = it did not */
	const char *costs; /* "99.0 us per step, modelled"; "" = not known */
};

struct tfs_diff_part {
	const char *title;
	const struct tfs_diff_row *rows;
	size_t count;
};

/* A step's time in both. */
struct tfs_diff_time {
	const char *name;    /* "as written" */
	const char *between; /* "2.00 ms -> 1.90 ms"; NULL = not measurable, as `text` says */
	const char *text;    /* "5.0 % shorter, by 100 us (90 us to 110 us)" */
};

struct tfs_diff {
	const struct tfs_model *before, *now;
	bool simulated;
	struct tfs_diff_time times[2];
	struct tfs_diff_part parts[5]; /* none is empty */
	size_t part_count;
	struct tfs_arena arena;
};

/* Compares two runs, which must outlive the difference, both ways. Unless they are comparable there
 * is nothing in it. */
enum tfs_apart tfs_diff_find(const struct tfs_model *before, const struct tfs_model *now,
	struct tfs_diff *out_difference);
void tfs_diff_finish(struct tfs_diff *difference);

#endif
