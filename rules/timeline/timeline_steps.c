/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/sort.h"
#include "rules/timeline/recording_cost.h"
#include "rules/timeline/timeline_build.h"
#include "rules/timeline/timeline_shares.h"

/* A growing list of durations. */
struct durations {
	double *ns;
	size_t count;
	size_t room;
};

/* A step record, or a run of packed steps. */
struct event {
	uint64_t ns;
	uint64_t index;
	const struct tfs_step_record *mark;
	const struct tfs_steps_record *pack;
};

#define ANY UINT32_MAX
#define ENOUGH 20u /* steps that a judgement can rest on */

struct steps_work {
	struct tfs_timeline *timeline;
	struct event *events; /* by time */
	size_t event_count;
	struct tfs_key *packs; /* steps records by first index */
	size_t pack_count;
	struct durations outside;
	struct durations rewritten;
	struct durations inside;
	uint32_t sight; /* windows whose flag 2 is so, or ANY */
};

static int durations_add(struct durations *list, double ns)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 256;
		double *grown = realloc(list->ns, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->ns = grown;
		list->room = room;
	}
	list->ns[list->count++] = ns;
	return 0;
}

/* The first entry whose key is at least `key`. */
static size_t lower_bound(const struct tfs_key *keys, size_t count, uint64_t key)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (keys[middle].key < key)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static void count_steps(
	struct tfs_timeline *timeline, uint32_t phase, uint32_t flags, uint64_t count)
{
	if (phase == TFS_PHASE_TRAINING)
		timeline->training_steps += count;
	else if (phase == TFS_PHASE_WARMUP)
		timeline->warmup_steps += count;
	else
		timeline->other_steps += count;
	if (phase == TFS_PHASE_TRAINING && flags & 1)
		timeline->rewritten_steps += count;
}

/* The run of packed steps that holds an index, or NULL. */
static const struct tfs_steps_record *pack_of(const struct steps_work *work, uint64_t index)
{
	size_t next = index == UINT64_MAX ? work->pack_count
					  : lower_bound(work->packs, work->pack_count, index + 1);
	const struct tfs_steps_record *pack;

	if (!next)
		return NULL;
	pack = tfs_trace_at(work->timeline->trace, TFS_RECORD_steps, work->packs[next - 1].value);
	return index - pack->first_index < pack->count ? pack : NULL;
}

/* What was marked before another loop turned out to be the step was no training. */
static void forget_mistaken(struct steps_work *work)
{
	size_t count = work->event_count, first = count;

	while (first && !(work->events[first - 1].mark &&
				work->events[first - 1].mark->flags & TFS_STEP_ANEW))
		first--;
	if (!first)
		return;
	work->timeline->other_steps += work->events[first - 1].index;
	memmove(work->events, work->events + first, (count - first) * sizeof(*work->events));
	work->event_count = count - first;
}

static int read_events(struct steps_work *work)
{
	const struct tfs_trace *trace = work->timeline->trace;
	size_t marks = tfs_trace_count(trace, TFS_RECORD_step);
	size_t packs = tfs_trace_count(trace, TFS_RECORD_steps), count = 0;
	struct tfs_key *keys = malloc((marks + packs + 1) * sizeof(*keys));
	int err = -ENOMEM;

	work->packs = malloc((packs + 1) * sizeof(*work->packs));
	work->events = calloc(marks + packs + 1, sizeof(*work->events));
	if (!keys || !work->packs || !work->events || marks + packs >= TFS_NONE)
		goto out;
	for (size_t i = 0; i < marks; i++) {
		const struct tfs_step_record *mark = tfs_trace_at(trace, TFS_RECORD_step, i);

		keys[count++] = (struct tfs_key){mark->start_ticks, (uint32_t)i};
	}
	for (size_t i = 0; i < packs; i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);

		work->packs[i] = (struct tfs_key){pack->first_index, (uint32_t)i};
		keys[count++] = (struct tfs_key){pack->first_start_ticks, (uint32_t)(marks + i)};
	}
	work->pack_count = packs;
	err = tfs_sort_keys(work->packs, packs);
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++) {
		struct event *event = &work->events[i];

		event->ns = tfs_trace_ns(trace, keys[i].key);
		if (keys[i].value < marks) {
			event->mark = tfs_trace_at(trace, TFS_RECORD_step, keys[i].value);
			event->index = event->mark->index;
		} else {
			event->pack = tfs_trace_at(trace, TFS_RECORD_steps, keys[i].value - marks);
			event->index = event->pack->first_index;
		}
	}
	work->event_count = count;
	if (!err)
		forget_mistaken(work);
out:
	free(keys);
	return err;
}

/* Durations of steps outside windows. */
static int add_packed(struct steps_work *work, const struct tfs_steps_record *pack, uint32_t phase)
{
	const struct tfs_segment *segment =
		tfs_trace_segment(work->timeline->trace, pack->first_start_ticks);
	const float *ticks = (const float *)(pack + 1);
	struct durations *list = pack->flags & 1 ? &work->rewritten : &work->outside;
	int err = 0;

	count_steps(work->timeline, phase, pack->flags, pack->count);
	for (unsigned i = 0; i < pack->count && !err && phase == TFS_PHASE_TRAINING; i++)
		err = durations_add(list, (double)tfs_segment_duration(segment, (double)ticks[i]));
	return err;
}

/*
 * The end of the step that an event opens: where the next one starts, or where the phase changes.
 * A second mark of the same step and phase is written at exit; it ends no step.
 */
static bool step_end(const struct steps_work *work, size_t nth, uint64_t *out_ns)
{
	const struct event *event = &work->events[nth], *next = event + 1;
	const struct tfs_steps_record *pack = pack_of(work, event->index);
	uint32_t phase = event->mark->phase;
	bool has_next = nth + 1 < work->event_count;

	if (has_next && (next->index == event->index + 1 || phase != TFS_PHASE_TRAINING ||
				(next->mark && next->index == event->index &&
					next->mark->phase != phase))) {
		*out_ns = next->ns;
		return true;
	}
	if (phase == TFS_PHASE_TRAINING && pack) {
		const float *ticks = (const float *)(pack + 1);
		const struct tfs_segment *segment =
			tfs_trace_segment(work->timeline->trace, event->mark->start_ticks);

		*out_ns = event->ns + tfs_segment_duration(segment,
					      (double)ticks[event->index - pack->first_index]);
		return true;
	}
	return false;
}

/* Does the program do something else than train once the step that an event opens is over? */
static bool is_left(const struct steps_work *work, size_t nth)
{
	const struct event *next = nth + 1 < work->event_count ? &work->events[nth + 1] : NULL;

	return next && next->mark && next->mark->phase != TFS_PHASE_TRAINING;
}

static void add_step(struct steps_work *work, size_t nth)
{
	const struct event *event = &work->events[nth];
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_step *step = &timeline->private->steps[timeline->step_count];
	uint64_t end;
	uint32_t window;

	timeline->step_source = event->mark->source;
	if (!step_end(work, nth, &end) || end <= event->ns)
		return;
	if (timeline->step_count && step[-1].end_ns > event->ns)
		return;
	window = tfs_timeline_window_at(timeline, event->ns);
	if (window != TFS_NONE && timeline->windows[window].end_ns < end)
		window = TFS_NONE;
	*step = (struct tfs_step){.index = event->index,
		.start_ns = event->ns,
		.end_ns = end,
		.phase = event->mark->phase,
		.flags = event->mark->flags,
		.window = window,
		.site = event->mark->site,
		.left = is_left(work, nth)};
	timeline->step_count++;
}

/* Sorts a step's duration where it belongs; rewritten steps are no evidence. */
static int file_step(struct steps_work *work, uint32_t nth)
{
	struct tfs_timeline *timeline = work->timeline;
	const struct tfs_step *step = &timeline->steps[nth];
	bool whole = step->window != TFS_NONE && timeline->windows[step->window].flags & 1;
	double ns = (double)(step->end_ns - step->start_ns);

	if (step->phase != TFS_PHASE_TRAINING)
		return 0;
	/* the first step of a window began before it; packed steps are counted already */
	if (!whole && (step->flags & 2 || pack_of(work, step->index)))
		return 0;
	if (!whole)
		return durations_add(step->flags & 1 ? &work->rewritten : &work->outside, ns);
	if (step->flags & 1 && !timeline->judged_rewritten)
		return 0;
	if (work->sight != ANY && (timeline->windows[step->window].flags & 2) != work->sight)
		return 0;
	timeline->private->judged[timeline->judged_count++] = nth;
	return 0;
}

/* Steps with the device's activity and steps without it are not judged together: the greater part
 * is, and these with it where they are enough. */
static uint32_t choose_sight(const struct tfs_timeline *timeline)
{
	uint32_t sighted = 0, blind = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tfs_step *step = &timeline->steps[i];

		if (step->phase != TFS_PHASE_TRAINING || step->window == TFS_NONE ||
			step->flags & 1)
			continue;
		sighted += (timeline->windows[step->window].flags & 2) != 0;
		blind += (timeline->windows[step->window].flags & 2) == 0;
	}
	if (!sighted || !blind)
		return ANY;
	return sighted >= ENOUGH || sighted >= blind ? 2 : 0;
}

static int read_steps(struct steps_work *work)
{
	const struct tfs_step_record *latest = NULL;
	int err = 0;

	for (size_t i = 0; i < work->event_count && !err; i++) {
		const struct event *event = &work->events[i];

		if (event->pack) {
			err = add_packed(work, event->pack,
				latest ? latest->phase : (uint32_t)TFS_PHASE_TRAINING);
			continue;
		}
		/* the mark at exit repeats the last step; packed steps are counted as such */
		if (event->mark->phase != TFS_PHASE_TRAINING ||
			!((latest && latest->index == event->index) || pack_of(work, event->index)))
			count_steps(work->timeline, event->mark->phase, event->mark->flags, 1);
		add_step(work, i);
		latest = event->mark;
	}
	return err;
}

/* Of the recorded steps those that stand for the run. */
static int take_shares(struct steps_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_run_steps run = {UINT64_MAX, 0};
	int err = 0;

	for (size_t i = 0; i < work->event_count; i++) {
		const struct event *event = &work->events[i];
		const uint64_t more =
			event->pack && event->pack->count ? event->pack->count - 1u : 0;

		run.first = event->index < run.first ? event->index : run.first;
		run.last = event->index + more > run.last ? event->index + more : run.last;
	}
	const int64_t kept = tfs_timeline_shares(
		timeline->steps, timeline->private->judged, timeline->judged_count, &run);
	timeline->judged_count = kept < 0 ? 0 : (uint32_t)kept;
	for (uint32_t i = 0; i < timeline->judged_count && !err; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		err = durations_add(&work->inside, (double)(step->end_ns - step->start_ns));
	}
	return kept < 0 ? (int)kept : err;
}

static int judge_steps(struct steps_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	int err = 0;

	work->sight = choose_sight(timeline);
	for (uint32_t i = 0; i < timeline->step_count && !err; i++)
		err = file_step(work, i);
	if (err || timeline->judged_count)
		return err ? err : take_shares(work);
	timeline->judged_rewritten = true;
	for (uint32_t i = 0; i < timeline->step_count && !err; i++)
		if (timeline->steps[i].window != TFS_NONE && timeline->steps[i].flags & 1)
			err = file_step(work, i);
	timeline->judged_rewritten = timeline->judged_count != 0;
	return err ? err : take_shares(work);
}

/* Everything but judging: marks if there are any, else a search of our own. */
static int fill_steps(struct steps_work *work)
{
	struct tfs_timeline_private *own = work->timeline->private;
	int err = read_events(work);

	if (err)
		return err;
	if (work->event_count) {
		own->steps = calloc(work->event_count + 1, sizeof(*own->steps));
		err = own->steps ? read_steps(work) : -ENOMEM;
	} else if (tfs_trace_summary(work->timeline->trace)->calls) {
		err = tfs_timeline_find_steps(work->timeline);
	}
	work->timeline->steps = own->steps;
	own->judged = calloc(work->timeline->step_count + 1u, sizeof(*own->judged));
	work->timeline->judged = own->judged;
	return err || own->judged ? err : -ENOMEM;
}

int tfs_timeline_build_steps(struct tfs_timeline *timeline)
{
	struct steps_work work = {.timeline = timeline};
	int err = fill_steps(&work);

	if (!err)
		err = judge_steps(&work);
	if (!err) {
		timeline->inside = tfs_step_times_of(work.inside.ns, work.inside.count);
		timeline->outside = tfs_step_times_of(work.outside.ns, work.outside.count);
		timeline->rewritten = tfs_step_times_of(work.rewritten.ns, work.rewritten.count);
	}
	free(work.events);
	free(work.packs);
	free(work.inside.ns);
	free(work.outside.ns);
	free(work.rewritten.ns);
	return err;
}
