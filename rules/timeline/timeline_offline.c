/* SPDX-License-Identifier: MIT */
/*
 * Training steps of a recording that has no marks: the same search as in the traced process, over
 * the recorded calls of the thread that made most of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "rules/timeline/timeline_build.h"
#include "shim/steps/loops/loops.h"
#include "shim/trace/format/iterations.h"

#define MOST_OPERANDS 24

enum site_kind { SITE_NEW = 0, SITE_INSIDE, SITE_OPENS, SITE_OUTSIDE };

struct search {
	struct tfs_timeline *timeline;
	struct tfs_loops *loops;
	uint8_t *sites; /* enum site_kind by id */
	uint32_t site_limit;
	uint32_t latest_site;
	size_t thread;
	size_t room;
	unsigned shallow; /* stacks of so few frames were made before the unwinder was there */
};

static size_t busiest_thread(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	size_t count = tfs_trace_threads(trace, &threads), best = 0;

	for (size_t i = 1; i < count; i++)
		if (threads[i].calls > threads[best].calls)
			best = i;
	return best;
}

static bool feed(struct search *search, const struct tfs_call *call)
{
	struct tfs_loops_operand operands[MOST_OPERANDS];
	const uint64_t *frames = NULL;
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call, &items), depth;
	uint32_t used = 0;

	for (unsigned i = 0; i < count && used < MOST_OPERANDS; i++) {
		uint32_t role = TFS_ITEM_ROLE(&items[i]);

		if (!(role & TFS_ROLE_OPERAND) || role & TFS_ROLE_SCRATCH)
			continue;
		operands[used++] = (struct tfs_loops_operand){.address = items[i].value,
			.reads = (role & (TFS_ROLE_READ | TFS_ROLE_MAYBE)) != 0,
			.writes = (role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE)) != 0,
			.maybe = (role & TFS_ROLE_MAYBE) != 0};
	}
	depth = tfs_trace_frames(search->timeline->trace, call->site, &frames);
	return depth > search->shallow &&
	       tfs_loops_feed(search->loops, call->site, frames, depth, operands, used);
}

static enum site_kind kind_of(struct search *search, uint32_t site)
{
	const uint64_t *frames = NULL;
	unsigned depth;

	if (site >= search->site_limit)
		return SITE_INSIDE;
	if (search->sites[site] != SITE_NEW)
		return search->sites[site];
	depth = tfs_trace_frames(search->timeline->trace, site, &frames);
	search->sites[site] = SITE_INSIDE;
	if (depth && tfs_loops_opens(search->loops, frames, depth))
		search->sites[site] = SITE_OPENS;
	else if (depth && tfs_loops_outside(search->loops, frames, depth))
		search->sites[site] = SITE_OUTSIDE;
	return search->sites[site];
}

static bool same_place(const struct search *search, uint32_t site)
{
	const uint64_t *one = NULL, *other = NULL;
	unsigned one_depth = tfs_trace_frames(search->timeline->trace, site, &one);
	unsigned other_depth =
		tfs_trace_frames(search->timeline->trace, search->latest_site, &other);

	return one_depth && other_depth &&
	       tfs_loops_same_place(search->loops, one, one_depth, other, other_depth);
}

/* The step or phase under way ends; one that took no time never was. */
static void end_step(struct tfs_timeline *timeline, uint64_t ns)
{
	struct tfs_step *step = &timeline->private->steps[timeline->step_count];
	uint32_t window = tfs_timeline_window_at(timeline, step->start_ns);

	if (ns <= step->start_ns)
		return;
	step->end_ns = ns;
	step->window =
		window != TFS_NONE && timeline->windows[window].end_ns >= ns ? window : TFS_NONE;
	timeline->step_count++;
}

static int begin_step(struct search *search, const struct tfs_call *call, uint32_t phase)
{
	struct tfs_timeline *timeline = search->timeline;
	struct tfs_timeline_private *own = timeline->private;
	uint64_t ns = tfs_trace_ns(timeline->trace, call->start_ticks);

	if (search->room)
		end_step(timeline, ns);
	if (timeline->step_count + (size_t)1 >= search->room) {
		size_t room = search->room ? search->room * 2 : 256;
		struct tfs_step *grown = realloc(own->steps, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		own->steps = grown;
		search->room = room;
	}
	if (phase == TFS_PHASE_TRAINING)
		timeline->training_steps++;
	else
		timeline->other_steps++;
	own->steps[timeline->step_count] = (struct tfs_step){.index = timeline->training_steps,
		.start_ns = ns,
		.phase = phase,
		.flags = 2,
		.site = call->site};
	return 0;
}

static int mark_steps(struct search *search)
{
	uint32_t phase = TFS_PHASE_WARMUP;
	const struct tfs_call *call;
	struct tfs_cursor cursor;
	int err = 0;

	tfs_cursor_start(&cursor, search->timeline->trace, search->thread);
	while (!err && (call = tfs_cursor_next(&cursor))) {
		enum site_kind kind = kind_of(search, call->site);

		if (kind == SITE_OPENS && !same_place(search, call->site)) {
			phase = TFS_PHASE_TRAINING;
			err = begin_step(search, call, phase);
		} else if (kind == SITE_OUTSIDE && phase == TFS_PHASE_TRAINING) {
			phase = TFS_PHASE_OTHER;
			err = begin_step(search, call, phase);
		}
		search->latest_site = call->site;
	}
	return err;
}

/* The outermost frame is never alone, except in a recording without any unwinder. */
static unsigned shallow_depth(const struct tfs_trace *trace, uint32_t limit)
{
	const uint64_t *frames;

	for (uint32_t i = 0; i < limit; i++)
		if (tfs_trace_frames(trace, i, &frames) > 1)
			return 1;
	return 0;
}

/* In other tools' recordings a call's place says too little of the loop that it is in. */
static bool dominates(const struct search *search)
{
	return !tfs_trace_fact(search->timeline->trace, TFS_FACT_imported) &&
	       tfs_loops_dominate(search->loops);
}

int tfs_timeline_find_steps(struct tfs_timeline *timeline)
{
	struct search search = {.timeline = timeline,
		.thread = busiest_thread(timeline->trace),
		.site_limit = tfs_trace_limit(timeline->trace, TFS_RECORD_site)};
	void *memory = calloc(1, tfs_loops_bytes());
	const struct tfs_call *call;
	struct tfs_cursor cursor;
	bool found = false;
	int err = 0;

	search.shallow = shallow_depth(timeline->trace, search.site_limit);
	search.sites = calloc(search.site_limit + 1u, sizeof(*search.sites));
	if (!memory || !search.sites) {
		free(memory);
		free(search.sites);
		return -ENOMEM;
	}
	search.loops = tfs_loops_init(memory);
	tfs_cursor_start(&cursor, timeline->trace, search.thread);
	while (!found && (call = tfs_cursor_next(&cursor)))
		found = feed(&search, call);
	if (found || dominates(&search)) {
		timeline->steps_offline = true;
		timeline->step_source =
			found ? TFS_STEP_LOOPS : (enum tfs_step_source)TFS_STEP_ITERATIONS;
		err = mark_steps(&search);
	}
	free(memory);
	free(search.sites);
	return err;
}
