/* SPDX-License-Identifier: MIT */
/*
 * Where records were lost, a step may lack calls, or the device's work that its calls caused: that
 * the device then seems idle proves nothing. Such steps are left out; where hardly a step has all
 * of its device's work, none is judged by it.
 */
#include <errno.h>
#include <stdlib.h>

#include "rules/timeline/recording_cost.h"
#include "rules/timeline/timeline_build.h"

/* A step has all of something where it has this share: not each call gives work to the device. */
#define ALL 0.9
/* So many steps with the device's work stand for those without it. */
#define ENOUGH 3u

/* Of a step. */
struct content {
	uint32_t calls;
	uint32_t work;   /* calls of functions that gave the device work in some judged step */
	uint32_t served; /* of these: with records of that work */
};

static bool has_lost(const struct tfs_trace *trace)
{
	const struct tfs_file_header *header = tfs_trace_header(trace);

	return header->lost[TFS_LOSS_records_dropped] || header->lost[TFS_LOSS_cupti_dropped] ||
	       tfs_trace_summary(trace)->damages || tfs_trace_summary(trace)->cut ||
	       !header->finished;
}

static void count_calls(
	const struct tfs_timeline *timeline, const bool *judged, bool *works, struct content *steps)
{
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];

		if (call->step != TFS_NONE && judged[call->step] && call->op_count)
			works[call->function] = true;
	}
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];

		if (call->step == TFS_NONE || !judged[call->step])
			continue;
		steps[call->step].calls++;
		steps[call->step].work += works[call->function];
		steps[call->step].served += works[call->function] && call->op_count;
	}
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Calls that a step has, by those that have any; 0 where none has. */
static uint32_t usual_calls(
	const struct tfs_timeline *timeline, const struct content *steps, uint32_t *numbers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < timeline->judged_count; i++)
		if (steps[timeline->judged[i]].calls)
			numbers[count++] = steps[timeline->judged[i]].calls;
	qsort(numbers, count, sizeof(*numbers), compare);
	return count ? numbers[count / 2] : 0;
}

static bool is_sighted(const struct content *step)
{
	return step->work && step->served >= ALL * step->work;
}

/* Keeps the steps with all their calls; of these, if asked, those with all their work. */
static void keep(
	struct tfs_timeline *timeline, const struct content *steps, uint32_t usual, bool sighted)
{
	uint32_t *judged = timeline->private->judged, kept = 0;

	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct content *step = &steps[judged[i]];

		if (step->calls && step->calls >= ALL * usual && (!sighted || is_sighted(step)))
			judged[kept++] = judged[i];
	}
	timeline->partial_steps += timeline->judged_count - kept;
	timeline->judged_count = kept;
}

/* The device's work is as good as not recorded. */
static void forget_work(struct tfs_timeline *timeline)
{
	struct tfs_timeline_private *own = timeline->private;

	for (uint32_t i = 0; i < timeline->call_count; i++)
		own->calls[i].op_count = 0;
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		own->streams[i].op_count = 0;
	timeline->op_count = 0;
	timeline->sync_count = 0;
	timeline->work_lost = true;
}

static int time_steps(struct tfs_timeline *timeline)
{
	double *ns = malloc((timeline->judged_count + 1u) * sizeof(*ns));

	if (!ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		ns[i] = (double)(step->end_ns - step->start_ns);
	}
	timeline->inside = tfs_step_times_of(ns, timeline->judged_count);
	free(ns);
	return 0;
}

static int leave_out(struct tfs_timeline *timeline, const struct content *steps, uint32_t *numbers)
{
	const uint32_t usual = usual_calls(timeline, steps, numbers);
	uint32_t sighted = 0;

	keep(timeline, steps, usual, false);
	for (uint32_t i = 0; i < timeline->judged_count; i++)
		sighted += is_sighted(&steps[timeline->judged[i]]);
	if (sighted && (sighted >= ENOUGH || 2 * sighted >= timeline->judged_count))
		keep(timeline, steps, usual, true);
	else if (timeline->op_count)
		forget_work(timeline);
	return time_steps(timeline);
}

int tfs_timeline_leave_partial(struct tfs_timeline *timeline)
{
	bool *judged, *works;
	struct content *steps;
	uint32_t *numbers;
	int err = -ENOMEM;

	if (!timeline->judged_count || !has_lost(timeline->trace))
		return 0;
	judged = calloc(timeline->step_count, sizeof(*judged));
	works = calloc(UINT16_MAX + 1u, sizeof(*works));
	steps = calloc(timeline->step_count, sizeof(*steps));
	numbers = calloc(timeline->judged_count, sizeof(*numbers));
	if (judged && works && steps && numbers) {
		for (uint32_t i = 0; i < timeline->judged_count; i++)
			judged[timeline->judged[i]] = true;
		count_calls(timeline, judged, works, steps);
		err = leave_out(timeline, steps, numbers);
	}
	free(judged);
	free(works);
	free(steps);
	free(numbers);
	return err;
}
