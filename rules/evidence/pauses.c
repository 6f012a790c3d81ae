/* SPDX-License-Identifier: MIT */
#include "rules/evidence/pauses.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/evidence/copies.h"
#include "rules/timeline/families.h"
#include "rules/timeline/flow.h"

/* As the search for steps has it, see shim/steps/steps.c: what happens more often is a part of the
 * step. */
#define STEPS_BETWEEN 8u
#define MOST_COPIES 4u /* one of the other */
#define WITH_DEVICE 2u /* of a window's flags */

struct walk {
	const struct tfs_timeline *timeline;
	struct tfs_pauses *pauses;
	bool *inside;
	struct tfs_pause open; /* without copies: none */
	bool waits;            /* for a copy of it */
	uint32_t window;
	int err;
};

static bool is_training(const struct tfs_step *step)
{
	return step->phase == TFS_PHASE_TRAINING || step->phase == TFS_PHASE_WARMUP;
}

static bool in_training(const struct tfs_timeline *timeline, uint32_t call)
{
	const uint32_t step = timeline->calls[call].step;

	return step != TFS_NONE && is_training(&timeline->steps[step]);
}

/* The window that a call is in, if it has the device's activity; else TFS_NONE. */
static uint32_t window_of(const struct tfs_timeline *timeline, uint32_t call)
{
	const uint32_t window = tfs_timeline_window_at(timeline, timeline->calls[call].start_ns);

	return window != TFS_NONE && timeline->windows[window].flags & WITH_DEVICE ? window
										   : TFS_NONE;
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

/* Whether the program may have computed between its training steps what it copies: samples, say. */
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

static uint32_t range_of(
	const struct tfs_timeline *timeline, uint32_t call, enum tfs_direction direction)
{
	const struct tfs_host_call *it = &timeline->calls[call];
	struct tfs_copy copy;

	if (!tfs_copy_describe(timeline, it, &copy) || copy.direction != direction)
		return TFS_NONE;
	return tfs_timeline_range_at(timeline, copy.device_address, it->start_ns);
}

/* Whether training goes on with what comes back to the memory that was copied. */
static bool comes_back(const struct tfs_timeline *timeline, const struct tfs_pause *pause)
{
	const uint32_t range = range_of(timeline, pause->first, TFS_COPY_DOWN);

	return range != TFS_NONE && range_of(timeline, pause->next, TFS_COPY_UP) == range;
}

static void keep(struct walk *walk)
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
	for (uint32_t i = walk->open.first; i <= walk->open.next; i++)
		walk->inside[i] = true;
	walk->open.doubtful |= comes_back(walk->timeline, &walk->open);
	pauses->items[pauses->count++] = walk->open;
}

/* The pause ends before this call. Without a wait it was none. */
static void close_pause(struct walk *walk, uint32_t next)
{
	if (!walk->open.copies)
		return;
	for (uint32_t i = walk->open.first; i < next; i++) {
		struct tfs_pause_site *site = tfs_pauses_site(walk->timeline, walk->pauses, i);

		if (site)
			site->told++;
	}
	walk->open.next = next;
	if (walk->waits)
		keep(walk);
	walk->open.copies = 0;
}

static void add_copy(struct walk *walk, uint32_t call, const struct tfs_copy *copy)
{
	struct tfs_pause *open = &walk->open;

	if (!open->copies) {
		*open = (struct tfs_pause){.first = call, .last = call};
		walk->waits = false;
	}
	open->copies++;
	open->bytes += copy->bytes;
	open->doubtful |= is_of_pause(walk->timeline, call);
	if (copy->async && copy->host_memory != TFS_MEMORY_PAGEABLE)
		return;
	walk->waits = true;
	open->last = call;
}

static bool copies_down(const struct tfs_timeline *timeline, uint32_t call, struct tfs_copy *out)
{
	return tfs_copy_describe(timeline, &timeline->calls[call], out) &&
	       out->direction == TFS_COPY_DOWN;
}

/* Whether a call is no part of what a step does each time. */
static bool is_seldom(const struct walk *walk, const struct tfs_pause_site *site, uint32_t call)
{
	return site && (!in_training(walk->timeline, call) ||
			       (uint64_t)site->steps * STEPS_BETWEEN <= walk->pauses->steps);
}

static void take(struct walk *walk, uint32_t call)
{
	const struct tfs_timeline *timeline = walk->timeline;
	const enum tfs_family family = (enum tfs_family)timeline->calls[call].family;
	const uint32_t window = window_of(timeline, call);
	struct tfs_pause_site *site = tfs_pauses_site(timeline, walk->pauses, call);
	const bool seldom = is_seldom(walk, site, call);
	struct tfs_copy copy;

	if (window != walk->window)
		walk->open.copies = 0;
	walk->window = window;
	if (window == TFS_NONE)
		return;
	if (seldom && copies_down(timeline, call, &copy)) {
		add_copy(walk, call, &copy);
	} else if (tfs_family_submits(family)) {
		close_pause(walk, call);
		if (site)
			site->told++;
	} else if (seldom && walk->open.copies && tfs_family_about(family) == TFS_ABOUT_WAITS) {
		walk->waits = true;
		walk->open.last = call;
	}
}

/* What is recorded of each site. */
static void count(struct tfs_pauses *pauses, const struct tfs_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tfs_step *step = &timeline->steps[i];

		pauses->steps += is_training(step) && step->window != TFS_NONE &&
				 timeline->windows[step->window].flags & WITH_DEVICE;
	}
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		struct tfs_pause_site *site = tfs_pauses_site(timeline, pauses, i);
		struct tfs_copy copy;

		if (!site || window_of(timeline, i) == TFS_NONE)
			continue;
		site->calls++;
		site->down += copies_down(timeline, i, &copy);
		if (site->steps && site->latest_step == timeline->calls[i].step)
			continue;
		site->latest_step = timeline->calls[i].step;
		site->steps++;
	}
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

static int find(
	const struct tfs_steady *steady, uint32_t thread, bool *inside, struct tfs_pauses *pauses)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_thread *it = &timeline->threads[thread];
	struct walk walk = {
		.timeline = timeline, .pauses = pauses, .inside = inside, .window = TFS_NONE};

	count(pauses, timeline);
	for (uint32_t i = 0; i < it->call_count && !walk.err; i++)
		take(&walk, it->first_call + i);
	if (walk.err || !pauses->count)
		return walk.err;
	qsort_r(pauses->items, pauses->count, sizeof(*pauses->items), compare, (void *)timeline);
	return tfs_pauses_measure(pauses, steady, thread, inside);
}

int tfs_pauses_find(const struct tfs_steady *steady, uint32_t thread, struct tfs_pauses *out_pauses)
{
	const struct tfs_total *totals;
	const size_t count = tfs_trace_totals(steady->timeline->trace, &totals, NULL);
	bool *inside = calloc(steady->timeline->call_count + 1u, sizeof(*inside));
	int err = -ENOMEM;

	*out_pauses = (struct tfs_pauses){.sites = calloc(count + 1, sizeof(*out_pauses->sites))};
	if (inside && out_pauses->sites)
		err = find(steady, thread, inside, out_pauses);
	free(inside);
	if (err)
		tfs_pauses_finish(out_pauses);
	return err;
}

void tfs_pauses_finish(struct tfs_pauses *pauses)
{
	free(pauses->items);
	free(pauses->sites);
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

struct tfs_pause_site *tfs_pauses_site(
	const struct tfs_timeline *timeline, const struct tfs_pauses *pauses, uint32_t call)
{
	const struct tfs_host_call *it = &timeline->calls[call];
	const struct tfs_total *totals, *total;

	tfs_trace_totals(timeline->trace, &totals, NULL);
	total = tfs_trace_total(timeline->trace, it->record->site, it->function);
	return total ? &pauses->sites[total - totals] : NULL;
}
