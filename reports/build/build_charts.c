/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/intervals.h"

#define MOST_STEPS 4000u

/* Steps outside windows are packed: only their durations were kept. */
static size_t add_packed(const struct tfs_build *build, double origin, struct tfs_chart_step *out)
{
	size_t packs = tfs_trace_count(build->trace, TFS_RECORD_steps);
	size_t count = 0;
	for (size_t i = 0; i < packs; i++) {
		const struct tfs_steps_record *pack =
			tfs_trace_at(build->trace, TFS_RECORD_steps, i);
		const struct tfs_segment *rate =
			tfs_trace_segment(build->trace, pack->first_start_ticks);
		const unsigned char *tail = (const unsigned char *)(pack + 1);
		double now = (double)tfs_trace_ns(build->trace, pack->first_start_ticks) - origin;
		size_t room = (pack->record.units * TFS_UNIT - sizeof(*pack)) / sizeof(float);
		for (size_t j = 0; j < pack->count && j < room; j++) {
			float ticks;
			memcpy(&ticks, tail + j * sizeof(ticks), sizeof(ticks));
			double ns = (double)tfs_segment_duration(rate, (double)ticks);
			if (out)
				out[count] = (struct tfs_chart_step){.index = pack->first_index + j,
					.start_ns = now,
					.duration_ns = ns,
					.phase = TFS_CHART_TRAINING,
					.rewritten = pack->flags & 1};
			count++;
			now += ns;
		}
	}
	return count;
}

static int by_index(const void *a, const void *b)
{
	const struct tfs_chart_step *one = a;
	const struct tfs_chart_step *two = b;
	if (one->index != two->index)
		return one->index < two->index ? -1 : 1;
	/* Where a step is known both ways, its mark says more. */
	return one->in_window > two->in_window ? -1 : one->in_window < two->in_window;
}

static size_t collect_steps(
	struct tfs_build *build, struct tfs_arena *scratch, struct tfs_chart_step **out_steps)
{
	const struct tfs_timeline *timeline = build->timeline;
	double origin = (double)tfs_trace_header(build->trace)->start_ns;
	size_t packed = add_packed(build, origin, NULL);
	struct tfs_chart_step *steps =
		tfs_arena_alloc(scratch, packed + timeline->step_count, sizeof(*steps));
	size_t count = 0;
	size_t kept = 0;

	if (!steps)
		return 0;
	for (size_t i = 0; i < timeline->step_count; i++) {
		const struct tfs_step *from = &timeline->steps[i];
		steps[count++] = (struct tfs_chart_step){.index = from->index,
			.start_ns = (double)from->start_ns - origin,
			.duration_ns = (double)(from->end_ns - from->start_ns),
			.phase = from->phase < 4 ? (enum tfs_chart_phase)from->phase
						 : TFS_CHART_OTHER,
			.in_window = from->window != TFS_NONE,
			.rewritten = from->flags & 1};
	}
	count += add_packed(build, origin, steps + count);
	if (count)
		qsort(steps, count, sizeof(*steps), by_index);
	for (size_t i = 0; i < count; i++) {
		if (!kept || steps[kept - 1].index != steps[i].index)
			steps[kept++] = steps[i];
	}
	*out_steps = steps;
	return kept;
}

static void set_steps(struct tfs_build *build)
{
	struct tfs_model_charts *charts = &build->model->charts;
	struct tfs_arena scratch = {0};
	struct tfs_chart_step *all;
	size_t count = collect_steps(build, &scratch, &all);
	size_t merged = (count + MOST_STEPS - 1) / MOST_STEPS;
	size_t kept = 0;

	struct tfs_chart_step *steps = tfs_arena_alloc(
		&build->model->arena, merged ? count / merged + 1 : 0, sizeof(*steps));
	for (size_t i = 0; steps && i < count; i++) {
		if (i % merged == 0)
			steps[kept++] = all[i];
		else if (all[i].duration_ns > steps[kept - 1].duration_ns)
			steps[kept - 1] = all[i];
	}
	build->model->arena.failed |= tfs_arena_finish(&scratch) != 0;
	charts->steps = steps;
	charts->step_count = kept;
	charts->steps_merged = merged;
}

/* What one device did during the judged steps. */
struct device_use {
	struct tfs_intervals compute;
	struct tfs_intervals copies; /* between host and device */
	struct tfs_intervals all;
	struct tfs_intervals judged;
};

static void collect(const struct tfs_timeline *timeline, uint32_t device, struct device_use *use)
{
	int err = 0;
	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];
		err |= tfs_intervals_add(&use->judged, step->start_ns, step->end_ns);
	}
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];
		if (op->record->device != device || op->end_ns <= op->start_ns)
			continue;
		bool copy = op->record->operation == TFS_DEVICE_MEMCPY;
		bool moves = copy && op->record->copy_kind <= 2;
		err |= tfs_intervals_add(&use->all, op->start_ns, op->end_ns);
		if (!copy)
			err |= tfs_intervals_add(&use->compute, op->start_ns, op->end_ns);
		else if (moves)
			err |= tfs_intervals_add(&use->copies, op->start_ns, op->end_ns);
	}
	/* -ENOMEM only makes the shares too small; the next allocation ends the program. */
	(void)err;
	tfs_intervals_unite(&use->judged);
	tfs_intervals_unite(&use->all);
	tfs_intervals_unite(&use->compute);
	tfs_intervals_unite(&use->copies);
}

static double covered_by(const struct tfs_intervals *set, const struct tfs_intervals *by)
{
	double ns = 0;
	for (size_t i = 0; i < set->count; i++)
		ns += (double)tfs_intervals_covered(
			by, set->items[i].start_ns, set->items[i].end_ns);
	return ns;
}

struct use_sums {
	double judged_ns;
	double busy_ns;
	double compute_ns;
	double copies_ns;
	double hidden_ns; /* copies under computation */
};

static void add_device(const struct tfs_timeline *timeline, uint32_t device, struct use_sums *sums)
{
	struct device_use use = {0};
	struct tfs_intervals judged_copies = {0};

	collect(timeline, device, &use);
	sums->judged_ns += (double)tfs_intervals_total(&use.judged);
	sums->busy_ns += covered_by(&use.judged, &use.all);
	sums->compute_ns += covered_by(&use.judged, &use.compute);
	if (!tfs_intervals_both(&use.judged, &use.copies, &judged_copies)) {
		sums->copies_ns += (double)tfs_intervals_total(&judged_copies);
		sums->hidden_ns += covered_by(&judged_copies, &use.compute);
	}
	tfs_intervals_finish(&judged_copies);
	tfs_intervals_finish(&use.judged);
	tfs_intervals_finish(&use.all);
	tfs_intervals_finish(&use.compute);
	tfs_intervals_finish(&use.copies);
}

/* Idle time of all devices by reason, inside judged steps. */
static void add_idle(const struct tfs_timeline *timeline, double out_ns[5])
{
	struct tfs_intervals judged = {0};
	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];
		if (tfs_intervals_add(&judged, step->start_ns, step->end_ns))
			break;
	}
	tfs_intervals_unite(&judged);
	for (uint32_t i = 0; i < timeline->idle_count; i++) {
		const struct tfs_idle *idle = &timeline->idles[i];
		if (idle->why < 5)
			out_ns[idle->why] += (double)tfs_intervals_covered(
				&judged, idle->start_ns, idle->end_ns);
	}
	tfs_intervals_finish(&judged);
}

static void set_shares(struct tfs_build *build)
{
	static const char *const idle_names[] = {
		[TFS_IDLE_UNKNOWN] = "idle, reason unknown",
		[TFS_IDLE_QUEUED] = "idle, with work queued (latency, dependencies)",
		[TFS_IDLE_DRAINED] = "idle, queue empty after the host synchronised",
		[TFS_IDLE_CALL] = "idle, the host was inside a CUDA call",
		[TFS_IDLE_HOST] = "idle, the host ran its own code",
	};
	const struct tfs_timeline *timeline = build->timeline;
	struct tfs_model *model = build->model;
	struct use_sums sums = {0};
	double idle[5] = {0};
	double known = 0;
	unsigned devices = 0;

	for (uint32_t i = 0; i < timeline->device_count; i++) {
		if (!timeline->devices[i].busy_ns)
			continue;
		add_device(timeline, timeline->devices[i].number, &sums);
		devices++;
	}
	/* The host's steps are not those in which the device works or idles. */
	if (!devices || !(sums.judged_ns > 0) || model->steps.ahead)
		return;
	model->steps.gpu_busy = sums.busy_ns / sums.judged_ns;
	if (sums.copies_ns > 0)
		model->steps.copy_overlap = sums.hidden_ns / sums.copies_ns;
	add_idle(timeline, idle);
	struct tfs_chart_share *shares = tfs_arena_alloc(&model->arena, 8, sizeof(*shares));
	if (!shares)
		return;
	double steps = (double)timeline->judged_count * devices;
	size_t n = 0;
	shares[n++] = (struct tfs_chart_share){"computing", sums.compute_ns / steps, true};
	shares[n++] = (struct tfs_chart_share){
		"only copying", (sums.busy_ns - sums.compute_ns) / steps, true};
	for (unsigned why = 5; why-- > 1;) {
		known += idle[why];
		if (idle[why] > 0)
			shares[n++] =
				(struct tfs_chart_share){idle_names[why], idle[why] / steps, false};
	}
	double rest = sums.judged_ns - sums.busy_ns - known;
	if (rest > 0.001 * sums.judged_ns)
		shares[n++] = (struct tfs_chart_share){idle_names[0], rest / steps, false};
	model->charts.shares = shares;
	model->charts.share_count = n;
}

void tfs_build_charts(struct tfs_build *build)
{
	set_steps(build);
	set_shares(build);
}
