/* SPDX-License-Identifier: MIT */
#include "rules/evidence/steady.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/bandwidth.h"
#include "rules/evidence/mixed.h"

static int compare_calls(const void *a, const void *b, void *timeline)
{
	const struct tfs_host_call *calls = ((const struct tfs_timeline *)timeline)->calls;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (calls[x].start_ns != calls[y].start_ns)
		return calls[x].start_ns < calls[y].start_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* A steady state shows itself in this many steps; a recording of everything may have more. */
#define MOST_STEPS 1000u

/* Flags of the steps that are judged, by index of step; the caller frees. */
static bool *judged_steps(const struct tfs_timeline *timeline, uint32_t *out_count)
{
	bool *judged = calloc((size_t)timeline->step_count + 1, sizeof(*judged));
	uint32_t count = timeline->judged_count < MOST_STEPS ? timeline->judged_count : MOST_STEPS;

	/* The last ones: the program has settled by then. */
	for (uint32_t i = 1; judged && i <= count; i++)
		judged[timeline->judged[timeline->judged_count - i]] = true;
	*out_count = count;
	return judged;
}

static double busy_per_step(const struct tfs_timeline *timeline, const bool *judged, uint32_t count)
{
	double busy = 0;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (op->step != TFS_NONE && judged[op->step])
			busy += tfs_device_op_ns(op);
	}
	return count ? busy / count : 0;
}

/* Everything lies behind each other in one block. */
static int make_room(struct tfs_steady *steady, uint32_t **out_steps, uint32_t **out_calls,
	uint32_t **out_place, struct tfs_waiting **out_waits)
{
	size_t calls = steady->timeline->call_count, steps = steady->timeline->judged_count;
	struct tfs_waiting *waits =
		calloc((calls + 1) * (sizeof(*waits) + 2 * sizeof(uint32_t)) + steps * 4, 1);

	if (!waits)
		return -ENOMEM;
	steady->memory = waits;
	*out_waits = waits;
	*out_calls = (uint32_t *)(waits + calls + 1);
	*out_place = *out_calls + calls;
	*out_steps = *out_place + calls;
	return 0;
}

/* Whether a call is part of the evidence: of the judged steps, or without these of any window. */
static bool is_evidence(
	const struct tfs_timeline *timeline, const bool *judged, const struct tfs_host_call *call)
{
	uint32_t window;

	if (judged)
		return call->step != TFS_NONE && judged[call->step];
	window = tfs_timeline_window_at(timeline, call->start_ns);
	return window != TFS_NONE && timeline->windows[window].flags & 1;
}

static uint32_t take_calls(
	const struct tfs_timeline *timeline, const bool *judged, uint32_t *out_calls)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		const struct tfs_host_thread *thread = &timeline->threads[i];

		for (uint32_t j = 0; j < thread->call_count; j++) {
			uint32_t call = thread->first_call + j;

			if (is_evidence(timeline, judged, &timeline->calls[call]))
				out_calls[count++] = call;
		}
	}
	qsort_r(out_calls, count, sizeof(*out_calls), compare_calls, (void *)timeline);
	return count;
}

/* Steps that are left, and their mean duration. */
static void take_steps(struct tfs_steady *steady, const bool *judged, uint32_t *out_steps)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double sum = 0;

	for (uint32_t i = 0; i < timeline->judged_count; i++) {
		const struct tfs_step *step = &timeline->steps[timeline->judged[i]];

		if (!judged[timeline->judged[i]])
			continue;
		out_steps[steady->step_count++] = timeline->judged[i];
		sum += (double)(step->end_ns - step->start_ns);
	}
	steady->steps = out_steps;
	steady->step_ns = steady->step_count ? sum / steady->step_count : 0;
}

/* Where everything lies, and what is known before the evidence is. */
struct parts {
	uint32_t *steps, *calls, *place;
	struct tfs_waiting *waits;
};

static int begin(struct tfs_steady *steady, const struct tfs_timeline *timeline, uint32_t min_steps,
	struct parts *out_parts)
{
	memset(steady, 0, sizeof(*steady));
	steady->timeline = timeline;
	steady->min_steps = min_steps ? min_steps : 20;
	for (uint32_t i = 0; i < timeline->device_count; i++)
		if (timeline->devices[i].record && timeline->devices[i].record->simulated == 1)
			steady->simulated = true;
	return make_room(
		steady, &out_parts->steps, &out_parts->calls, &out_parts->place, &out_parts->waits);
}

/* Whether calls are known for less than half of the steps' work on the device, or the run's. */
static bool is_untied(const struct tfs_timeline *timeline, bool run)
{
	uint32_t lost = 0, all = 0;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		if (timeline->ops[i].step == TFS_NONE && !run)
			continue;
		all++;
		lost += timeline->ops[i].call == TFS_NONE;
	}
	return lost > all / 2;
}

/* What follows from the steps; `judged` is NULL where the run stands for them. */
static int fill(struct tfs_steady *steady, const bool *judged, const struct parts *parts)
{
	const struct tfs_timeline *timeline = steady->timeline;
	int err;

	steady->untied = steady->busy_ns > 0 && is_untied(timeline, !judged);
	steady->activity = steady->busy_ns > 0 && !steady->untied;
	steady->call_count = take_calls(timeline, judged, parts->calls);
	memset(parts->place, 0xff, timeline->call_count * sizeof(*parts->place));
	for (uint32_t i = 0; i < steady->call_count; i++)
		parts->place[parts->calls[i]] = i;
	steady->calls = parts->calls;
	steady->place = parts->place;
	steady->waits = parts->waits;
	steady->kernel_floor_ns = tfs_kernel_floor(steady);
	err = tfs_copy_pinned_rates(steady, steady->pinned_rates);
	return err ? err : tfs_waits_find(steady, parts->waits);
}

int tfs_steady_init(
	struct tfs_steady *steady, const struct tfs_timeline *timeline, uint32_t min_steps)
{
	struct parts parts;
	uint32_t count;
	bool *judged = judged_steps(timeline, &count);
	int err = begin(steady, timeline, min_steps, &parts);

	err = judged ? err : -ENOMEM;
	if (!err) {
		steady->mixed_steps = count - tfs_mixed_remove(timeline, judged, count);
		take_steps(steady, judged, parts.steps);
		steady->busy_ns = busy_per_step(timeline, judged, steady->step_count);
		err = fill(steady, judged, &parts);
	}
	free(judged);
	if (err)
		tfs_steady_finish(steady);
	return err;
}

int tfs_steady_init_run(struct tfs_steady *steady, const struct tfs_timeline *timeline)
{
	struct parts parts;
	int err = begin(steady, timeline, 0, &parts);

	steady->run = true;
	steady->step_count = 1;
	steady->step_ns = tfs_timeline_seen_ns(timeline, 1);
	for (uint32_t i = 0; i < timeline->op_count; i++)
		steady->busy_ns += tfs_device_op_ns(&timeline->ops[i]);
	if (!err)
		err = fill(steady, NULL, &parts);
	if (err)
		tfs_steady_finish(steady);
	return err;
}

void tfs_steady_finish(struct tfs_steady *steady)
{
	free(steady->memory);
	memset(steady, 0, sizeof(*steady));
}
