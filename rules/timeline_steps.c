/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/sort.h"
#include "rules/timeline_build.h"

/* A growing list of durations. */
struct durations {
	double *ns;
	size_t count;
	size_t room;
};

struct steps_work {
	struct tfs_timeline *timeline;
	/* step records by index; `key` = index, `value` = position in the file's list */
	struct tfs_key *marks;
	size_t mark_count;
	struct tfs_key *packs; /* steps records by first index */
	size_t pack_count;
	/* every known step start: `key` = index, `value` = position in `times` */
	struct tfs_key *starts;
	uint64_t *times;
	size_t start_count;
	struct durations outside;
	struct durations rewritten;
	struct durations inside;
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

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static struct tfs_step_times summarise(struct durations *list)
{
	struct tfs_step_times times = {.count = list->count};
	size_t last = list->count ? list->count - 1 : 0;
	double sum = 0;

	if (!list->count)
		return times;
	qsort(list->ns, list->count, sizeof(*list->ns), compare_doubles);
	for (size_t i = 0; i < list->count; i++)
		sum += list->ns[i];
	times.mean_ns = sum / (double)list->count;
	times.median_ns = (list->ns[last / 2] + list->ns[list->count / 2]) / 2;
	times.p95_ns = list->ns[last - last / 20];
	return times;
}

static void add_start(struct steps_work *work, uint64_t index, uint64_t ns)
{
	work->times[work->start_count] = ns;
	work->starts[work->start_count] = (struct tfs_key){index, (uint32_t)work->start_count};
	work->start_count++;
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

static const struct tfs_step_record *mark_at(const struct steps_work *work, size_t nth)
{
	return tfs_trace_at(work->timeline->trace, TFS_RECORD_step, work->marks[nth].value);
}

/* The phase that holds at an index: that of the last step record up to it. */
static uint32_t phase_at(const struct steps_work *work, uint64_t index)
{
	size_t next = index == UINT64_MAX ? work->mark_count
					  : lower_bound(work->marks, work->mark_count, index + 1);

	return next ? mark_at(work, next - 1)->record.function : (uint32_t)TFS_PHASE_TRAINING;
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

/* Durations of steps outside windows; also says where the run of them starts and ends. */
static int add_packed(struct steps_work *work, const struct tfs_steps_record *record)
{
	const struct tfs_trace *trace = work->timeline->trace;
	const struct tfs_segment *segment = tfs_trace_segment(trace, record->first_start_ticks);
	const float *ticks = (const float *)(record + 1);
	uint32_t phase = phase_at(work, record->first_index);
	struct durations *list = record->flags & 1 ? &work->rewritten : &work->outside;
	uint64_t ns = tfs_segment_ns(segment, record->first_start_ticks);
	double sum = 0;
	int err = 0;

	add_start(work, record->first_index, ns);
	for (unsigned i = 0; i < record->record.function && !err; i++) {
		double step = (double)tfs_segment_duration(segment, (double)ticks[i]);

		sum += (double)ticks[i];
		if (phase == TFS_PHASE_TRAINING)
			err = durations_add(list, step);
	}
	add_start(work, record->first_index + record->record.function,
		ns + tfs_segment_duration(segment, sum));
	count_steps(work->timeline, phase, record->flags, record->record.function);
	return err;
}

static int read_marks(struct steps_work *work)
{
	const struct tfs_trace *trace = work->timeline->trace;
	size_t steps = tfs_trace_count(trace, TFS_RECORD_step);
	size_t packs = tfs_trace_count(trace, TFS_RECORD_steps);
	int err = 0;

	work->marks = malloc((steps + 1) * sizeof(*work->marks));
	work->starts = malloc((steps + 2 * packs + 1) * sizeof(*work->starts));
	work->times = malloc((steps + 2 * packs + 1) * sizeof(*work->times));
	work->packs = malloc((packs + 1) * sizeof(*work->packs));
	if (!work->marks || !work->packs || !work->starts || !work->times ||
		steps + 2 * packs >= TFS_NONE)
		return -ENOMEM;
	for (size_t i = 0; i < steps; i++) {
		const struct tfs_step_record *record = tfs_trace_at(trace, TFS_RECORD_step, i);

		work->marks[i] = (struct tfs_key){record->index, (uint32_t)i};
		add_start(work, record->index, tfs_trace_ns(trace, record->start_ticks));
	}
	work->mark_count = steps;
	err = tfs_sort_keys(work->marks, steps);
	for (size_t i = 0; i < packs && !err; i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);

		work->packs[work->pack_count++] = (struct tfs_key){pack->first_index, (uint32_t)i};
		err = add_packed(work, pack);
	}
	if (!err)
		err = tfs_sort_keys(work->packs, work->pack_count);
	return err ? err : tfs_sort_keys(work->starts, work->start_count);
}

/* The end of the step with this index: where the next one starts; false = not known. */
static bool step_end(const struct steps_work *work, uint64_t index, uint64_t *out_ns)
{
	size_t next = lower_bound(work->starts, work->start_count, index + 1);

	if (next == work->start_count || work->starts[next].key != index + 1)
		return false;
	*out_ns = work->times[work->starts[next].value];
	return true;
}

/* Whether a run of packed steps holds this index too: then it is counted there. */
static bool is_packed(const struct steps_work *work, uint64_t index)
{
	size_t next = index == UINT64_MAX ? work->pack_count
					  : lower_bound(work->packs, work->pack_count, index + 1);
	const struct tfs_steps_record *pack;

	if (!next)
		return false;
	pack = tfs_trace_at(work->timeline->trace, TFS_RECORD_steps, work->packs[next - 1].value);
	return index - pack->first_index < pack->record.function;
}

static void add_step(struct steps_work *work, const struct tfs_step_record *record)
{
	struct tfs_timeline *timeline = work->timeline;
	struct tfs_step *step = &timeline->private->steps[timeline->step_count];
	uint64_t start = tfs_trace_ns(timeline->trace, record->start_ticks), end;
	uint32_t window;

	if (!step_end(work, record->index, &end) || end <= start)
		return;
	if (timeline->step_count && step[-1].end_ns > start)
		return;
	window = tfs_timeline_window_at(timeline, start);
	if (window != TFS_NONE && timeline->windows[window].end_ns < end)
		window = TFS_NONE;
	*step = (struct tfs_step){.index = record->index,
		.start_ns = start,
		.end_ns = end,
		.phase = record->record.function,
		.flags = record->flags,
		.window = window,
		.site = record->record.site};
	timeline->step_count++;
	timeline->step_source = record->source;
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
	if (!whole && is_packed(work, step->index))
		return 0;
	if (!whole)
		return durations_add(step->flags & 1 ? &work->rewritten : &work->outside, ns);
	if (step->flags & 1 && !timeline->judged_rewritten)
		return 0;
	timeline->private->judged[timeline->judged_count++] = nth;
	return durations_add(&work->inside, ns);
}

/* Step records one after the other; the same index twice counts once. */
static void read_steps(struct steps_work *work)
{
	for (size_t i = 0; i < work->mark_count; i++) {
		const struct tfs_step_record *record = mark_at(work, i);

		if (i && work->marks[i - 1].key == record->index)
			continue;
		if (!is_packed(work, record->index))
			count_steps(work->timeline, record->record.function, record->flags, 1);
		add_step(work, record);
	}
}

static int judge_steps(struct steps_work *work)
{
	struct tfs_timeline *timeline = work->timeline;
	int err = 0;

	for (uint32_t i = 0; i < timeline->step_count && !err; i++)
		err = file_step(work, i);
	if (err || timeline->judged_count)
		return err;
	timeline->judged_rewritten = true;
	for (uint32_t i = 0; i < timeline->step_count && !err; i++)
		if (timeline->steps[i].window != TFS_NONE && timeline->steps[i].flags & 1)
			err = file_step(work, i);
	timeline->judged_rewritten = timeline->judged_count != 0;
	return err;
}

int tfs_timeline_build_steps(struct tfs_timeline *timeline)
{
	struct tfs_timeline_private *own = timeline->private;
	struct steps_work work = {.timeline = timeline};
	int err = read_marks(&work);

	own->steps = calloc(work.mark_count + 1, sizeof(*own->steps));
	own->judged = calloc(work.mark_count + 1, sizeof(*own->judged));
	if (!own->steps || !own->judged)
		err = -ENOMEM;
	if (!err) {
		timeline->steps = own->steps;
		timeline->judged = own->judged;
		read_steps(&work);
		err = judge_steps(&work);
	}
	if (!err) {
		timeline->inside = summarise(&work.inside);
		timeline->outside = summarise(&work.outside);
		timeline->rewritten = summarise(&work.rewritten);
	}
	free(work.marks);
	free(work.packs);
	free(work.starts);
	free(work.times);
	free(work.inside.ns);
	free(work.outside.ns);
	free(work.rewritten.ns);
	return err;
}
