/* SPDX-License-Identifier: MIT */
/*
 * TFS303: parameters that are updated one by one, each by a small call of its own. An update
 * changes memory that nothing but updates has written since the step before, and follows other
 * updates with no other work between. A library's calls are told by what they do; of the program's
 * own kernels it is not seen.
 */
#include <math.h>
#include <stdlib.h>

#include "rules/device/kernels.h"
#include "rules/device/unseen.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/series.h"
#include "rules/support/figures.h"
#include "rules/timeline/flow.h"

#define MANY 8
/* A call is small where it takes no longer than so many of the shortest kernels. */
#define SMALL 8
/* Kernels whose reach is not known, before one. */
#define MOST_BESIDE 256u

/* What a call may update: memory of a known range, which it reads and writes; false = none. */
static bool target_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_operand *out_target)
{
	const uint32_t changes = TFS_ROLE_READ | TFS_ROLE_WRITE;
	const bool own = call->family == TFS_FAMILY_launch;
	struct tfs_operand operand;
	unsigned cursor = 0;

	if ((!own && call->family != TFS_FAMILY_blas_pointwise) || call->record->status)
		return false;
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		if (operand.range == TFS_NONE)
			continue;
		if ((operand.role & changes) == changes || (own && operand.role & TFS_ROLE_MAYBE)) {
			*out_target = operand;
			return true;
		}
	}
	return false;
}

/* Whether what it changes was changed last by a call of the same place, in another step. How far a
 * kernel of the program reaches is not known: the same step's others before it may not have. */
static bool updates(const struct tfs_steady *steady, uint32_t nth)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = tfs_steady_call(steady, nth), *before;
	const bool own = call->family == TFS_FAMILY_launch;
	const struct tfs_access *access;
	struct tfs_operand target;
	uint32_t at = steady->calls[nth];

	if (!target_of(timeline, call, &target))
		return false;
	for (unsigned i = 0; i < MOST_BESIDE; i++) {
		access = tfs_flow_before(timeline, at, target.range,
			target.address - timeline->ranges[target.range].address, target.bytes,
			TFS_ROLE_WRITE | (own ? TFS_ROLE_MAYBE : 0));
		if (!access)
			return false;
		before = &timeline->calls[access->call];
		if (before->record->site != call->record->site ||
			before->function != call->function)
			return false;
		if (before->step != call->step)
			return true;
		if (!own)
			return false;
		at = access->call;
	}
	return false;
}

/* Marks updates; the first of a recording have none before them, and are told by the others of
 * their place. NULL without memory. The caller frees it. */
static bool *find_updates(const struct tfs_steady *steady)
{
	bool *marked = calloc(steady->call_count + 1u, sizeof(*marked));

	for (uint32_t i = 0; marked && i < steady->call_count; i++)
		marked[i] = updates(steady, i);
	return marked;
}

/* The updates by one function that follow each other in a step, from the nth call on: other work
 * than updates ends them. They need not be of one place: some programs have a line for each
 * parameter. Marks them as seen. */
static void series_from(const struct tfs_steady *steady, const bool *marked, bool *seen,
	uint32_t nth, struct tfs_hits *out)
{
	const struct tfs_host_call *first = tfs_steady_call(steady, nth);

	for (uint32_t i = nth; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (call->thread != first->thread)
			continue;
		if (call->step != first->step ||
			(!marked[i] && (call->op_count || steady->waits[i].wait != TFS_WAIT_NONE)))
			return;
		if (!marked[i] || seen[i] || call->function != first->function)
			continue;
		seen[i] = true;
		tfs_hits_add(out, steady->calls[i], 0, (struct tfs_edit){0});
	}
}

static uint64_t address_of(const struct tfs_steady *steady, const struct tfs_hit *hit)
{
	struct tfs_operand target = {0};

	target_of(steady->timeline, &steady->timeline->calls[hit->call], &target);
	return target.address;
}

/* One that is updated twice is no parameter of its own. */
static bool distinct(const struct tfs_steady *steady, const struct tfs_series *series)
{
	for (size_t i = 1; i < series->count; i++)
		if (address_of(steady, &series->items[i]) ==
			address_of(steady, &series->items[i - 1]))
			return false;
	return true;
}

/* Of what a call takes on the device, that which is not for its bytes. */
static double floor_ns(const struct tfs_steady *steady, const struct tfs_series *series)
{
	const struct tfs_device_record *device =
		steady->timeline->device_count ? steady->timeline->devices[0].record : NULL;
	const double rate = device ? (double)device->bandwidth / 1e9 : 0;
	double floor = steady->kernel_floor_ns;

	for (size_t i = 0; i < series->count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[series->items[i].call];
		double bytes = 0;
		struct tfs_operand operand;
		unsigned cursor = 0;

		while (tfs_operand_next(steady->timeline, call, &cursor, &operand))
			bytes += (double)operand.bytes * (!!(operand.role & TFS_ROLE_READ) +
								 !!(operand.role & TFS_ROLE_WRITE));
		if (rate > 0)
			floor = fmin(
				floor, fmax(0, tfs_steady_device_ns(steady, call) - bytes / rate));
	}
	return floor;
}

static double device_ns(const struct tfs_steady *steady, const struct tfs_hit *items, size_t count)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[items[i].call]);
	return ns;
}

/* What merging changes: the first calls of all series, and the edits of all calls, each series
 * behind its first. */
struct merging {
	struct tfs_hits firsts, edits;
};

static void merge(
	const struct tfs_steady *steady, const struct tfs_hits *found, struct merging *merging)
{
	const struct tfs_series series = {found->items, found->count};
	const double ns = device_ns(steady, found->items, found->count);

	if (series.count < MANY || !distinct(steady, &series) ||
		ns > SMALL * steady->kernel_floor_ns * (double)series.count)
		return;
	tfs_hits_add(&merging->firsts, series.items->call, 0, (struct tfs_edit){0});
	tfs_series_merge(steady, &series, 0,
		tfs_series_merged_ns(steady, &series, floor_ns(steady, &series)), &merging->edits);
}

/* The edits of the series whose first calls are of this place; edits begin a series where they do
 * not take their call away. */
static struct tfs_place edits_of(const struct tfs_steady *steady, const struct merging *merging,
	const struct tfs_place *place, struct tfs_hits *out)
{
	const struct tfs_host_call *calls = steady->timeline->calls;
	struct tfs_place merged = *place;
	bool mine = false;

	for (size_t i = 0; i < merging->edits.count; i++) {
		const struct tfs_hit *hit = &merging->edits.items[i];
		const struct tfs_host_call *call = &calls[hit->call];

		if (!hit->edit.gone)
			mine = call->record->site == place->site &&
			       call->function == place->function;
		if (mine)
			tfs_hits_add(out, hit->call, 0, hit->edit);
	}
	merged.items = out->items;
	merged.count = out->count;
	merged.spread = true;
	merged.time_ns = 0;
	for (size_t i = 0; i < out->count; i++)
		merged.time_ns += (double)(calls[out->items[i].call].end_ns -
					   calls[out->items[i].call].start_ns);
	return merged;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, size_t series)
{
	const bool own = steady->timeline->calls[place->items->call].family == TFS_FAMILY_launch;
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"%s %s parameters one by one, %s on average for each",
		own ? "seems to update" : "updates",
		tfs_figure_count((double)place->count / (double)series).text,
		tfs_figure_time(
			device_ns(steady, place->items, place->count) / (double)place->count)
			.text);

	if (!draft || !own)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice =
		"If this kernel updates a parameter, let one launch update all of them: "
		"keep parameters and their gradients in one allocation each, in the same order, or pass a table of pointers and lengths. "
		"In PyTorch: foreach=True or fused=True in the optimizer.";
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	static const struct tfs_unseen_row unseen = {MANY, SMALL, .apart = true};
	const size_t before = findings->count;
	bool *marked = find_updates(steady), *seen = calloc(steady->call_count + 1u, sizeof(*seen));
	struct merging merging = {0};
	struct tfs_place place = {0};

	findings->failed |= !marked || !seen;
	for (uint32_t i = 0; marked && seen && i < steady->call_count; i++) {
		struct tfs_hits found = {0};

		if (marked[i] && !seen[i])
			series_from(steady, marked, seen, i, &found);
		if (found.count)
			merge(steady, &found, &merging);
		tfs_hits_finish(&found);
	}
	while (tfs_hits_next(steady, &merging.firsts, &place)) {
		struct tfs_hits edits = {0};
		const struct tfs_place merged = edits_of(steady, &merging, &place, &edits);

		if (!place.seldom && merged.count)
			report(steady, findings, &merged, place.count);
		tfs_hits_finish(&edits);
	}
	if (!tfs_unseen_conclude(findings, before, &unseen, out_verdict))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no %d small parameters are updated one by one by calls of one kind", MANY);
	tfs_hits_finish(&merging.firsts);
	tfs_hits_finish(&merging.edits);
	free(marked);
	free(seen);
}

const struct tfs_rule tfs_rule_tfs303 = {
	.id = "TFS303",
	.slug = "per-tensor-update",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_LAUNCHES,
	.title = "parameters updated one by one",
	.why = "An optimiser that launches a kernel for each parameter pays for a launch and the start of a kernel each time; "
	       "most parameters (biases, the scales of normalisations) are so small that this is all they cost. "
	       "One kernel over all parameters does the same work.",
	.advice =
		"Update all parameters with one call: keep them in one allocation and their gradients in another, in the same order, "
		"and call the function once over the whole length; "
		"parameters with another learning rate come last and get a call of their own. "
		"In PyTorch: foreach=True or fused=True in the optimizer.",
	.detect = detect,
};
