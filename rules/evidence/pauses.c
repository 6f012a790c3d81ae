/* SPDX-License-Identifier: MIT */
#include "rules/evidence/pauses.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/evidence/copies.h"
#include "rules/timeline/flow.h"

/* As the search for steps has it, see shim/steps/steps.c: what happens more often is a part of the
 * step. */
#define STEPS_BETWEEN 8u
#define MOST_COPIES 4u /* one of the other */

/* Copies to the host by one function at one call site. */
struct habit {
	uint32_t steps; /* that have some */
	uint32_t latest;
};

struct walk {
	const struct tfs_timeline *timeline;
	const struct tfs_total *totals;
	struct habit *habits; /* of each total */
	struct tfs_pauses *pauses;
	struct tfs_pause open; /* without copies: none */
	uint32_t window;
	int err;
};

static bool in_training(const struct tfs_timeline *timeline, uint32_t call)
{
	const uint32_t step = timeline->calls[call].step;

	return step != TFS_NONE && (timeline->steps[step].phase == TFS_PHASE_TRAINING ||
					   timeline->steps[step].phase == TFS_PHASE_WARMUP);
}

/* Who wrote last what a call reads; NULL = not seen. */
static const struct tfs_access *writer_of(const struct tfs_timeline *timeline, uint32_t call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, &timeline->calls[call], &cursor, &operand))
		if (operand.role & TFS_ROLE_READ && operand.range != TFS_NONE)
			return tfs_flow_writer(timeline, call, &operand);
	return NULL;
}

/* Whether the program computed in a pause of its training what it copies now: samples, say. */
static bool is_of_pause(const struct tfs_timeline *timeline, uint32_t call)
{
	for (unsigned i = 0; i < MOST_COPIES; i++) {
		const struct tfs_access *writer = writer_of(timeline, call);
		struct tfs_copy copy;

		if (!writer || in_training(timeline, writer->call))
			return false;
		call = writer->call;
		if (!tfs_copy_describe(timeline, &timeline->calls[call], &copy))
			return true;
	}
	return true;
}

/* The habit of a call that copies to the host; NULL = it does not. */
static struct habit *habit_of(const struct walk *walk, uint32_t call, uint64_t *out_bytes)
{
	const struct tfs_timeline *timeline = walk->timeline;
	const struct tfs_host_call *it = &timeline->calls[call];
	const struct tfs_total *total;
	struct tfs_copy copy;

	if (!tfs_copy_describe(timeline, it, &copy) || copy.direction != TFS_COPY_DOWN)
		return NULL;
	total = tfs_trace_total(timeline->trace, it->record->site, it->function);
	*out_bytes = copy.bytes;
	return total ? &walk->habits[total - walk->totals] : NULL;
}

static void count(struct walk *walk, uint32_t call)
{
	uint64_t bytes;
	struct habit *habit = habit_of(walk, call, &bytes);

	if (!habit || (habit->steps && habit->latest == walk->timeline->calls[call].step))
		return;
	habit->latest = walk->timeline->calls[call].step;
	habit->steps++;
}

static bool is_seldom(const struct walk *walk, const struct habit *habit)
{
	return habit && (uint64_t)habit->steps * STEPS_BETWEEN <= walk->timeline->judged_count;
}

static void keep(struct walk *walk, uint32_t next)
{
	struct tfs_pauses *pauses = walk->pauses;

	if (pauses->count == pauses->room) {
		const size_t room = pauses->room ? pauses->room * 2 : 64;
		struct tfs_pause *items = realloc(pauses->items, room * sizeof(*items));

		if (!items) {
			walk->err = -ENOMEM;
			return;
		}
		pauses->items = items;
		pauses->room = room;
	}
	walk->open.next = next;
	pauses->items[pauses->count++] = walk->open;
}

static void add_copy(struct walk *walk, uint32_t call, uint64_t bytes)
{
	const struct tfs_host_call *calls = walk->timeline->calls;
	struct tfs_pause *open = &walk->open;

	if (!open->copies)
		*open = (struct tfs_pause){.first = call};
	open->copies++;
	open->alike += calls[call].record->site == calls[open->first].record->site &&
		       calls[call].function == calls[open->first].function;
	open->bytes += bytes;
}

static void take(struct walk *walk, uint32_t call)
{
	const struct tfs_host_call *it = &walk->timeline->calls[call];
	const uint32_t window = tfs_timeline_window_at(walk->timeline, it->start_ns);
	uint64_t bytes;

	if (window != walk->window)
		walk->open.copies = 0;
	walk->window = window;
	if (is_seldom(walk, habit_of(walk, call, &bytes)) && !is_of_pause(walk->timeline, call)) {
		add_copy(walk, call, bytes);
		return;
	}
	if (!walk->open.copies || !tfs_family_submits((enum tfs_family)it->family))
		return;
	keep(walk, call);
	walk->open.copies = 0;
}

static int compare(const void *a, const void *b, void *timeline)
{
	const struct tfs_host_call *calls = ((const struct tfs_timeline *)timeline)->calls;
	const uint32_t x = ((const struct tfs_pause *)a)->first;
	const uint32_t y = ((const struct tfs_pause *)b)->first;

	if (calls[x].record->site != calls[y].record->site)
		return calls[x].record->site < calls[y].record->site ? -1 : 1;
	if (calls[x].function != calls[y].function)
		return calls[x].function < calls[y].function ? -1 : 1;
	return (x > y) - (x < y);
}

static void walk_calls(
	struct walk *walk, uint32_t thread, void (*visit)(struct walk *walk, uint32_t call))
{
	const struct tfs_host_thread *it = &walk->timeline->threads[thread];

	for (uint32_t i = 0; i < it->call_count && !walk->err; i++)
		visit(walk, it->first_call + i);
}

int tfs_pauses_find(const struct tfs_steady *steady, uint32_t thread, struct tfs_pauses *out_pauses)
{
	struct walk walk = {.timeline = steady->timeline, .pauses = out_pauses, .window = TFS_NONE};
	const size_t totals = tfs_trace_totals(steady->timeline->trace, &walk.totals, NULL);

	*out_pauses = (struct tfs_pauses){0};
	walk.habits = calloc(totals + 1, sizeof(*walk.habits));
	if (!walk.habits)
		return -ENOMEM;
	walk_calls(&walk, thread, count);
	walk_calls(&walk, thread, take);
	free(walk.habits);
	if (!walk.err && out_pauses->count)
		walk.err = tfs_pauses_find_busy(out_pauses, steady);
	if (walk.err)
		tfs_pauses_finish(out_pauses);
	else if (out_pauses->count)
		qsort_r(out_pauses->items, out_pauses->count, sizeof(*out_pauses->items), compare,
			(void *)steady->timeline);
	return walk.err;
}

void tfs_pauses_finish(struct tfs_pauses *pauses)
{
	free(pauses->items);
	tfs_intervals_finish(&pauses->busy);
	*pauses = (struct tfs_pauses){0};
}

size_t tfs_pauses_alike(
	const struct tfs_steady *steady, const struct tfs_pauses *pauses, size_t first)
{
	const struct tfs_host_call *calls = steady->timeline->calls;
	const struct tfs_host_call *one = &calls[pauses->items[first].first];
	size_t next = first;

	while (next < pauses->count) {
		const struct tfs_host_call *other = &calls[pauses->items[next].first];

		if (other->record->site != one->record->site || other->function != one->function)
			break;
		next++;
	}
	return next - first;
}
