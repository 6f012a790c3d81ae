/* SPDX-License-Identifier: MIT */
#include "rules/timeline/timeline_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are judged of a run with many, and of each window where there are many of these. */
#define USUAL_STEPS 60.0
#define STEPS_EACH 5.0
#define MOST_STEPS 240.0
/* Fewer steps than this in a row are hardly evidence: the first one finds what was given before. */
#define LEAST_STEPS 3.0
/* Below this, nothing can be an error: rather the rest of other rows than too few. */
#define FEWEST_STEPS 20u

/* Recorded steps that follow each other. */
struct row {
	uint64_t first, last; /* indices of steps in the run */
	uint32_t at, count;   /* places in the list */
	double share;         /* of the steps that are to be judged */
	uint32_t taken;       /* its last ones, that are judged */
};

static size_t find_rows(
	const struct tfs_step *steps, const uint32_t *judged, uint32_t count, struct row *rows)
{
	size_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct tfs_step *step = &steps[judged[i]], *before = step;

		if (i)
			before = &steps[judged[i - 1]];
		if (!i || (step->window != before->window && step->index > before->index + 1))
			rows[found++] = (struct row){.first = step->index, .at = i};
		rows[found - 1].last = step->index;
		rows[found - 1].count++;
	}
	return found;
}

/* A row stands for the steps that are nearer to it than to any other. */
static void share(struct row *rows, size_t count, const struct tfs_run_steps *run)
{
	const double whole = count * STEPS_EACH < USUAL_STEPS  ? USUAL_STEPS
			     : count * STEPS_EACH > MOST_STEPS ? MOST_STEPS
							       : (double)count * STEPS_EACH;
	const double steps = (double)run->last - (double)run->first + 1;
	double from = (double)run->first;

	for (size_t i = 0; i < count; i++) {
		const double to = i + 1 < count
					  ? ((double)rows[i].last + (double)rows[i + 1].first) / 2
					  : (double)run->last + 1;

		rows[i].share = steps >= 1 ? (to - from) / steps * whole : whole;
		from = to;
	}
}

/* Rows that have hardly any share are their neighbours'; the last of the rest to be left out, if it
 * comes to that, is the latest. */
static size_t drop_small(struct row *rows, size_t count, const struct tfs_run_steps *run)
{
	for (;;) {
		size_t least = 0;

		share(rows, count, run);
		for (size_t i = 1; i < count; i++)
			if (rows[i].share < rows[least].share)
				least = i;
		if (count == 1 || rows[least].share >= LEAST_STEPS)
			return count;
		memmove(&rows[least], &rows[least + 1], (--count - least) * sizeof(*rows));
	}
}

/* Where the shares leave too few because a row is short, the others give more, the one that gives
 * the most of what it has not yet given first. */
static void fill_up(struct row *rows, size_t count, uint32_t taken)
{
	while (taken < FEWEST_STEPS) {
		size_t most = 0;

		for (size_t i = 1; i < count; i++)
			if (rows[i].count - rows[i].taken > rows[most].count - rows[most].taken)
				most = i;
		if (rows[most].taken == rows[most].count)
			return;
		rows[most].taken++;
		taken++;
	}
}

/* The last ones of each: the program has settled by then. */
static uint32_t keep(uint32_t *judged, struct row *rows, size_t count)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const uint32_t wanted = (uint32_t)(rows[i].share + 0.5);

		rows[i].taken = wanted < rows[i].count ? wanted : rows[i].count;
		kept += rows[i].taken;
	}
	fill_up(rows, count, kept);
	kept = 0;
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];

		memmove(&judged[kept], &judged[row->at + row->count - row->taken],
			row->taken * sizeof(*judged));
		kept += row->taken;
	}
	return kept;
}

int64_t tfs_timeline_shares(const struct tfs_step *steps, uint32_t *judged, uint32_t count,
	const struct tfs_run_steps *run)
{
	struct row *rows = malloc(((size_t)count + 1) * sizeof(*rows));
	uint32_t kept = count;

	if (!rows)
		return -ENOMEM;
	size_t found = find_rows(steps, judged, count, rows);
	if (found > 1) {
		found = drop_small(rows, found, run);
		kept = keep(judged, rows, found);
	}
	free(rows);
	return kept;
}
