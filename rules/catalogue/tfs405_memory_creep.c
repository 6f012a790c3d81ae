/* SPDX-License-Identifier: MIT */
/*
 * TFS405: the device memory in use grows from step to step. What grows and shrinks again has a
 * least amount that stays; so has what is filled once.
 */
#include <stdlib.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/memory_use.h"
#include "rules/support/figures.h"

/* A window by default has ten steps more. */
#define LEAST_STEPS 40u
/* In a hundred steps. */
#define LEAST_GROWTH 0.01
#define PARTS 3u
/* From part to part it grows by so much of what it grows by on average; of all that stays a place
 * allocates so much, to be told. */
#define STEADY 0.5
#define PLACE_SHARE 0.2
/* Of memory. */
#define KINDS (1u << TFS_MEMORY_DEVICE | 1u << TFS_MEMORY_MANAGED)

/* The least amount in use at the beginning of a step, in each part of the judged steps. */
struct creep {
	double least[PARTS];
	double steps; /* from the middle of the first part to that of the last */
	uint32_t span;
};

static bool is_device(const struct tfs_allocation *range)
{
	return KINDS >> range->memory & 1;
}

static const struct tfs_step *judged(const struct tfs_steady *steady, uint32_t nth)
{
	return &steady->timeline->steps[steady->steps[nth]];
}

static void follow(const struct tfs_steady *steady, const struct tfs_memory_event *events,
	size_t count, struct creep *out_creep)
{
	uint64_t live = 0;
	size_t next = 0;

	for (uint32_t i = 0; i < steady->step_count; i++) {
		double *least = &out_creep->least[(uint64_t)i * PARTS / steady->step_count];

		for (; next < count && events[next].ns <= judged(steady, i)->start_ns; next++)
			live += events[next].frees ? -events[next].bytes : events[next].bytes;
		if (*least < 0 || (double)live < *least)
			*least = (double)live;
	}
}

/* False without memory. */
static bool find(const struct tfs_steady *steady, struct creep *out_creep)
{
	size_t count;
	struct tfs_memory_event *events = tfs_memory_events(steady->timeline, KINDS, &count);
	const uint32_t last = steady->step_count - 1;

	if (!events)
		return false;
	for (unsigned i = 0; i < PARTS; i++)
		out_creep->least[i] = -1;
	follow(steady, events, count, out_creep);
	free(events);
	out_creep->span = (uint32_t)(judged(steady, last)->index - judged(steady, 0)->index);
	out_creep->steps = out_creep->span * (1 - 1.0 / PARTS);
	return true;
}

static double growth(const struct creep *creep)
{
	return creep->least[PARTS - 1] - creep->least[0];
}

static bool creeps(const struct creep *creep)
{
	if (growth(creep) < LEAST_GROWTH / 100 * creep->steps * creep->least[0] ||
		!(growth(creep) > 0))
		return false;
	for (unsigned i = 1; i < PARTS; i++)
		if (creep->least[i] - creep->least[i - 1] < STEADY * growth(creep) / (PARTS - 1))
			return false;
	return true;
}

/* What was allocated in these steps and is there behind them. */
static double take_kept(const struct tfs_steady *steady, struct tfs_hits *hits)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint64_t from_ns = judged(steady, 0)->start_ns;
	const uint64_t until_ns = judged(steady, steady->step_count - 1)->end_ns;
	double bytes = 0;

	for (uint32_t i = 0; i < timeline->range_count; i++) {
		const struct tfs_allocation *range = &timeline->ranges[i];

		if (!is_device(range) || range->from_ns < from_ns || range->from_ns >= until_ns ||
			range->until_ns <= until_ns)
			continue;
		tfs_hits_add(hits, range->alloc_call, range->bytes, (struct tfs_edit){0});
		bytes += (double)range->bytes;
	}
	return bytes;
}

static void report(
	const struct tfs_steady *steady, struct tfs_findings *findings, const struct creep *creep)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	const double kept = take_kept(steady, &hits);

	while (tfs_hits_next(steady, &hits, &place)) {
		struct tfs_draft *draft = NULL;

		if ((double)place.bytes >= PLACE_SHARE * kept)
			draft = tfs_findings_add(findings, &place, NULL,
				"allocates %s of device memory that is not freed, %s; what is in use grows by %s in 100 steps, from %s",
				tfs_figure_bytes((double)place.bytes / (double)place.count).text,
				tfs_figure_calls(tfs_place_per_step(&place, steady)).text,
				tfs_figure_bytes(100 * growth(creep) / creep->steps).text,
				tfs_figure_bytes(creep->least[0]).text);
		if (draft)
			draft->apart = draft->needed = true;
	}
	tfs_hits_finish(&hits);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct creep creep = {0};

	if (steady->run) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: what each adds to the memory in use is not known");
		return;
	}
	if (!find(steady, &creep)) {
		findings->failed = true;
		return;
	}
	if (creeps(&creep) && creep.span >= LEAST_STEPS)
		report(steady, findings, &creep);
	if (steady->step_count < steady->min_steps)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"too few steps were judged to see memory grow");
	else if (creeps(&creep) && creep.span < LEAST_STEPS)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the device memory in use grows by %s in %u steps: too few to tell whether it goes on",
			tfs_figure_bytes(growth(&creep)).text, creep.span);
	else if (creeps(&creep))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the device memory in use grows, but what allocates it was not recorded");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"the device memory in use does not grow from step to step");
}

const struct tfs_rule tfs_rule_tfs405 = {
	.id = "TFS405",
	.slug = "memory-creep",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_MEMORY,
	.title = "the device memory in use grows from step to step",
	.why = "Memory that each step allocates and none frees runs out at last, hours into the run. "
	       "Until then allocating takes longer, and caches have less to give.",
	.advice =
		"Free this memory when the step no longer needs it, or allocate it once before the training loop and use it again. "
		"Look for what is kept from step to step: results that are collected, events and graphs with their buffers, caches without a limit. "
		"In PyTorch: collect loss.item() or loss.detach(), not loss, which keeps the step's graph.",
	.detect = detect,
};
