/* SPDX-License-Identifier: MIT */
/*
 * TFS406: a buffer that is released and allocated again because this step needs a larger one than
 * the step before, again and again: what is trained on varies in length. Places that allocate the
 * same sizes in each step are TFS401's alone.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

/* A length that varies makes a buffer larger in every second or third step. */
#define OFTEN 3u

struct growth {
	uint32_t times;
	uint64_t least, most; /* bytes, of the steps' largest */
};

static const struct tfs_allocation *range_of(const struct tfs_timeline *timeline, uint32_t call)
{
	const uint32_t range = tfs_timeline_allocated(timeline, call);

	return range == TFS_NONE ? NULL : &timeline->ranges[range];
}

static bool allocates(const struct tfs_host_call *call)
{
	return (call->family == TFS_FAMILY_alloc || call->family == TFS_FAMILY_host_alloc) &&
	       !call->record->status && call->record->amount;
}

/* One step's largest allocation at a place, against that of the step before, which was released
 * before this one was made. */
static void compare(const struct tfs_allocation *before, const struct tfs_allocation *now,
	struct growth *growth)
{
	if (!now)
		return;
	if (!growth->most || now->bytes < growth->least)
		growth->least = now->bytes;
	if (now->bytes > growth->most)
		growth->most = now->bytes;
	growth->times += before && now->bytes > before->bytes && before->until_ns <= now->from_ns;
}

static struct growth growth_of(const struct tfs_steady *steady, const struct tfs_place *place)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_allocation *before = NULL, *largest = NULL;
	struct growth growth = {0};
	uint32_t step = TFS_NONE;

	for (size_t i = 0; i < place->count; i++) {
		const uint32_t index = place->items[i].call;
		const struct tfs_allocation *range = range_of(timeline, index);

		if (timeline->calls[index].step != step) {
			compare(before, largest, &growth);
			before = largest;
			largest = NULL;
			step = timeline->calls[index].step;
		}
		if (range && (!largest || range->bytes > largest->bytes))
			largest = range;
	}
	compare(before, largest, &growth);
	return growth;
}

/* What releases a place's buffers is not needed either. */
static void add_releases(
	const struct tfs_steady *steady, const struct tfs_place *place, struct tfs_hits *out)
{
	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_allocation *range =
			range_of(steady->timeline, place->items[i].call);

		if (range && range->free_call != TFS_NONE &&
			steady->place[range->free_call] != TFS_NONE)
			tfs_hits_add(out, range->free_call, 0, (struct tfs_edit){.gone = true});
	}
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, struct growth growth)
{
	struct tfs_hits releases = {0};
	struct tfs_draft *draft;

	add_releases(steady, place, &releases);
	draft = tfs_findings_add(findings, place, &releases,
		"releases a buffer and allocates a larger one than in the step before, %s in %s steps; it has %s to %s",
		tfs_figure_number(growth.times, "time", "times").text,
		tfs_figure_count(steady->step_count).text,
		tfs_figure_bytes((double)growth.least).text,
		tfs_figure_bytes((double)growth.most).text);
	tfs_hits_finish(&releases);
	if (draft && place->seldom)
		draft->most = TFS_LEVEL_NOTE;
	if (draft && tfs_guards_of(steady, place))
		draft->finding.advice = tfs_guards_advice(
			findings->arena, tfs_guards_of(steady, place), findings->rule->advice);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	unsigned others = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (allocates(call))
			tfs_hits_add(&hits, steady->calls[i], call->record->amount,
				(struct tfs_edit){.gone = true});
	}
	while (!steady->run && tfs_hits_next(steady, &hits, &place)) {
		const struct growth growth = growth_of(steady, &place);

		if (growth.times >= OFTEN)
			report(steady, findings, &place, growth);
		else
			others++;
	}
	if (steady->run && hits.count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known which of %s are of the same step",
			tfs_figure_number((double)hits.count, "allocation", "allocations").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no buffer is released for a larger one from step to step%s",
			tfs_figure_also(others, "call site allocates what does not grow",
				"call sites allocate what does not grow")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs406 = {
	.id = "TFS406",
	.slug = "growing-buffers",
	.level = TFS_LEVEL_ERROR,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_MEMORY,
	.title = "buffers released for larger ones, again and again",
	.why = "Where batches vary in length, a buffer that fits the one before is too small for the next: "
	       "releasing it waits for the device, and the new one is mapped through the driver. "
	       "Memory for the longest batch is needed sooner or later in any case.",
	.advice =
		"Allocate this buffer once, before the training loop, for the longest batch that there is, and use a part of it for shorter ones; "
		"where the longest is not known, let it grow to twice its size. "
		"In PyTorch: run one step with the longest batch first, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
	.rewrite = "alloc-pool",
	.detect = detect,
};
