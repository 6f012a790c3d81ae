/* SPDX-License-Identifier: MIT */
#include "rules/timeline/reached.h"

#include <stdbool.h>

static const struct tfs_step_record *mark_at(const struct tfs_trace *trace, size_t nth)
{
	return tfs_trace_at(trace, TFS_RECORD_step, nth);
}

/* Whether a training step begins there; with the mark at exit nothing does. */
static bool begins(const struct tfs_step_record *mark)
{
	return mark->site && mark->phase != TFS_PHASE_EVALUATION && mark->phase != TFS_PHASE_OTHER;
}

static void reach(struct tfs_reached *reached, uint64_t step, double ticks)
{
	if (step > reached->step)
		*reached = (struct tfs_reached){step, (uint64_t)ticks};
}

/* Steps are packed one behind the other, though something else may have come between: the first one
 * behind that has a mark. `*next` is the first mark that may be of this pack. */
static void reach_pack(const struct tfs_trace *trace, const struct tfs_steps_record *pack,
	size_t *next, uint64_t ticks, struct tfs_reached *reached)
{
	const size_t marks = tfs_trace_count(trace, TFS_RECORD_step);
	const float *durations = (const float *)(pack + 1);
	double at = (double)pack->first_start_ticks;

	for (unsigned i = 0; i < pack->count; i++) {
		const uint64_t step = pack->first_index + i;

		while (*next < marks && mark_at(trace, *next)->index < step)
			++*next;
		for (size_t j = *next; j < marks && mark_at(trace, j)->index == step; j++)
			if (begins(mark_at(trace, j)))
				at = (double)mark_at(trace, j)->start_ticks;
		if (at > (double)ticks)
			return;
		reach(reached, step, at);
		at += (double)durations[i];
	}
}

struct tfs_reached tfs_reached_at(const struct tfs_trace *trace, uint64_t ticks)
{
	const size_t marks = tfs_trace_count(trace, TFS_RECORD_step);
	const size_t packs = tfs_trace_count(trace, TFS_RECORD_steps);
	struct tfs_reached reached = {0};
	size_t next = 0;

	for (size_t i = 0; i < packs; i++)
		reach_pack(trace, tfs_trace_at(trace, TFS_RECORD_steps, i), &next, ticks, &reached);
	for (size_t i = 0; i < marks; i++)
		if (begins(mark_at(trace, i)) && mark_at(trace, i)->start_ticks <= ticks)
			reach(&reached, mark_at(trace, i)->index,
				(double)mark_at(trace, i)->start_ticks);
	return reached;
}
