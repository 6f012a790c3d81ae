/* SPDX-License-Identifier: MIT */
#include "rules/judge/ahead.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "rules/support/intervals.h"

/* By what factor the device takes longer for the judged steps than the host. */
#define LONGER 1.2
/* Steps behind another one: fewer are no evidence. */
#define LEAST_STEPS 5u

/* Of the judged steps that follow another one. */
struct sums {
	uint32_t count;
	double host_ns, device_ns;
	double squares; /* of the device's times */
	struct tfs_intervals time;
};

/* When the work of each of the timeline's steps ends on the device; 0 = it has none. */
static uint64_t *find_ends(const struct tfs_timeline *timeline)
{
	uint64_t *ends = calloc((size_t)timeline->step_count + 1, sizeof(*ends));

	for (uint32_t i = 0; ends && i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (op->step != TFS_NONE && op->end_ns > ends[op->step])
			ends[op->step] = op->end_ns;
	}
	return ends;
}

static int add_steps(const struct tfs_steady *steady, const uint64_t *ends, struct sums *sums)
{
	const struct tfs_step *steps = steady->timeline->steps;
	int err = 0;

	for (uint32_t i = 1; i < steady->step_count && !err; i++) {
		const uint32_t last = steady->steps[i - 1], step = steady->steps[i];

		if (steps[last].end_ns != steps[step].start_ns || !ends[last] ||
			ends[step] < ends[last])
			continue;
		const double ns = (double)(ends[step] - ends[last]);

		sums->count++;
		sums->host_ns += (double)(steps[step].end_ns - steps[step].start_ns);
		sums->device_ns += ns;
		sums->squares += ns * ns;
		err = tfs_intervals_add(&sums->time, ends[last], ends[step]);
	}
	return err;
}

/* The share of that time in which a device works. */
static int find_busy(
	const struct tfs_timeline *timeline, struct tfs_intervals *time, double *out_busy)
{
	struct tfs_intervals work = {0}, both = {0};
	int err = 0;

	for (uint32_t i = 0; i < timeline->op_count && !err; i++)
		err = tfs_intervals_add(&work, timeline->ops[i].start_ns, timeline->ops[i].end_ns);
	tfs_intervals_unite(&work);
	tfs_intervals_unite(time);
	if (!err)
		err = tfs_intervals_both(&work, time, &both);
	if (!err)
		*out_busy = (double)tfs_intervals_total(&both) / (double)tfs_intervals_total(time);
	tfs_intervals_finish(&work);
	tfs_intervals_finish(&both);
	return err;
}

int tfs_ahead_find(const struct tfs_steady *steady, struct tfs_ahead *out_ahead)
{
	uint64_t *ends = find_ends(steady->timeline);
	struct sums sums = {0};
	int err = ends ? add_steps(steady, ends, &sums) : -ENOMEM;

	*out_ahead = (struct tfs_ahead){0};
	if (!err && sums.count >= LEAST_STEPS && sums.device_ns > LONGER * sums.host_ns) {
		const double mean = sums.device_ns / sums.count;

		out_ahead->found = true;
		out_ahead->step_ns = mean;
		out_ahead->spread_ns =
			sqrt(fmax(sums.squares / sums.count - mean * mean, 0) / (sums.count - 1));
		err = find_busy(steady->timeline, &sums.time, &out_ahead->busy);
	}
	tfs_intervals_finish(&sums.time);
	free(ends);
	return err;
}
