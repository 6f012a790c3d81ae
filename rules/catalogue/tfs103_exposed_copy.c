/* SPDX-License-Identifier: MIT */
/*
 * TFS103: large asynchronous uploads from pinned memory beside which nothing is computed, as the
 * step's own kernels wait for them. What counts is by how much the steps would be shorter if they
 * ran beside the step before; a step that waits for its host gains nothing by that. Uploads that
 * the host waits for are TFS102's, those of pageable memory TFS101's, and small ones TFS104's.
 */
#include <math.h>

#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/support/intervals.h"
#include "rules/whatif/whatif.h"

#define LEAST_SHARE 0.05
/* A place that has less than this of what all of them take is not told. */
#define PLACE_SHARE 0.05
/* Where this part of what is copied to the device comes from it in the same step, the host may make
 * the one of the other. */
#define BACK_SHARE 0.0625
/* Copies and kernels that run side by side slow each other down by up to this. */
#define BESIDE_GUESS 0.1

/* A large upload that the host does not wait for. */
static bool uploads(const struct tfs_steady *steady, uint32_t nth, struct tfs_copy *out_copy)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, nth);

	return tfs_copy_describe(steady->timeline, call, out_copy) && !call->record->status &&
	       out_copy->direction == TFS_COPY_UP && out_copy->bytes >= TFS_EARLY_COPY_BYTES &&
	       steady->waits[nth].wait == TFS_WAIT_NONE;
}

/* Those from pinned memory; returns how many there are of which that is not known. */
static unsigned collect(const struct tfs_steady *steady, struct tfs_hits *out)
{
	unsigned unknown = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct tfs_copy copy;

		if (!uploads(steady, i, &copy))
			continue;
		unknown += copy.host_memory == TFS_MEMORY_UNKNOWN;
		if (copy.host_memory == TFS_MEMORY_PINNED)
			tfs_hits_add(out, steady->calls[i], copy.bytes, (struct tfs_edit){0});
	}
	return unknown;
}

/* What the devices do in the judged steps that is no copy; 0 or -ENOMEM. */
static int computing(const struct tfs_steady *steady, struct tfs_intervals *out)
{
	const struct tfs_timeline *timeline = steady->timeline;
	int err = 0;

	for (uint32_t i = 0; i < timeline->op_count && !err; i++)
		if (timeline->ops[i].record->operation != TFS_DEVICE_MEMCPY)
			err = tfs_intervals_add(
				out, timeline->ops[i].start_ns, timeline->ops[i].end_ns);
	if (!err)
		tfs_intervals_unite(out);
	return err;
}

/* Of a place's copies, per step. */
struct taken {
	double all_ns;
	double exposed_ns; /* nothing is computed meanwhile */
};

static struct taken taken_by(const struct tfs_steady *steady, const struct tfs_hit *hits,
	size_t count, const struct tfs_intervals *computed)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct taken taken = {0};

	for (size_t i = 0; i < count; i++) {
		const struct tfs_host_call *call = &timeline->calls[hits[i].call];

		for (uint32_t j = 0; j < call->op_count; j++) {
			const struct tfs_device_op *op =
				&timeline->ops[timeline->call_ops[call->first_op + j]];
			const double ns = tfs_device_op_ns(op);

			taken.all_ns += ns;
			taken.exposed_ns += ns - (double)tfs_intervals_covered(
							 computed, op->start_ns, op->end_ns);
		}
	}
	taken.all_ns /= (double)steady->step_count;
	taken.exposed_ns /= (double)steady->step_count;
	return taken;
}

/* Bytes that a step copies to the host. */
static double bytes_back(const struct tfs_steady *steady)
{
	double bytes = 0;
	struct tfs_copy copy;

	for (uint32_t i = 0; i < steady->call_count; i++)
		if (tfs_copy_describe(steady->timeline, tfs_steady_call(steady, i), &copy) &&
			copy.direction == TFS_COPY_DOWN)
			bytes += (double)copy.bytes;
	return bytes / (double)steady->step_count;
}

/* What part of the copies' time can pass beside what is computed and has no copy beside it yet. */
static double hidden_part(const struct tfs_steady *steady, struct taken taken)
{
	const double beside_ns = taken.all_ns - taken.exposed_ns;
	const double free_ns = steady->busy_ns - taken.all_ns - beside_ns;

	return taken.all_ns > 0 ? fmax(fmin(taken.exposed_ns, free_ns), 0) / taken.all_ns : 0;
}

/* 0 would scale by nothing. */
static void hide(struct tfs_hits *hits, double part)
{
	const float scale = (float)fmax(1 - part, 1e-6);

	for (size_t i = 0; i < hits->count; i++)
		hits->items[i].edit = (struct tfs_edit){.scale = scale};
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, struct taken taken)
{
	const double bytes = (double)place->bytes / (double)steady->step_count;
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"copies %s %s to the device in %s, which takes %s; no kernel runs during %s of that",
		tfs_figure_bytes(bytes).text, tfs_steady_each(steady),
		tfs_place_calls(place, steady).text, tfs_figure_time(taken.all_ns).text,
		tfs_figure_time(taken.exposed_ns).text);

	if (!draft)
		return;
	draft->less_ns = BESIDE_GUESS * (1 - place->items->edit.scale) * taken.all_ns;
	if (bytes_back(steady) < BACK_SHARE * bytes)
		return;
	draft->unsure = true;
	draft->finding.advice = tfs_arena_print(findings->arena,
		"If the host does not make this data of what it reads back in the same step: %s",
		findings->rule->advice);
}

/* All places at once; TFS_COST_UNKNOWN where it cannot be told, or without memory. */
static struct tfs_cost price(const struct tfs_steady *steady, const struct tfs_hits *hits)
{
	struct tfs_cost cost = {.method = TFS_COST_UNKNOWN};

	if (!steady->whatif)
		return cost;
	tfs_whatif_clear(steady->whatif);
	tfs_whatif_add(steady->whatif, hits->items, hits->count);
	if (tfs_whatif_price(steady->whatif, &cost))
		cost.method = TFS_COST_UNKNOWN;
	return cost;
}

static double device_ns(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[hits[i].call]);
	return ns;
}

/* Where no place has a part of them worth telling, the largest stands for all that are usual. */
static void report_all(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_hits *hits, const struct tfs_intervals *computed)
{
	const double all_ns = taken_by(steady, hits->items, hits->count, computed).all_ns;
	const size_t before = findings->count;
	struct tfs_hits usual = {0};
	struct tfs_place place = {0};

	while (tfs_hits_next(steady, hits, &place)) {
		const struct taken taken = taken_by(steady, place.items, place.count, computed);

		if (!place.seldom && taken.all_ns >= PLACE_SHARE * all_ns)
			report(steady, findings, &place, taken);
	}
	if (findings->count > before)
		return;
	tfs_hits_join(steady, hits, device_ns, &usual, &place);
	if (place.count)
		report(steady, findings, &place,
			taken_by(steady, place.items, place.count, computed));
	tfs_hits_finish(&usual);
}

static void conclude(const struct tfs_steady *steady, const struct tfs_findings *findings,
	size_t before, unsigned unknown, struct taken taken, struct tfs_cost cost,
	struct tfs_verdict *out_verdict)
{
	if (unknown)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"it is not known whether %s pinned host memory",
			tfs_figure_number(unknown, "H2D copy uses", "H2D copies use").text);
	else if (taken.all_ns <= 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no large H2D copy from pinned memory is asynchronous");
	else if (taken.exposed_ns < LEAST_SHARE * steady->step_ns)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"large asynchronous H2D copies beside which nothing is computed take %s of the step",
			tfs_figure_share(taken.exposed_ns / steady->step_ns).text);
	else if (cost.method == TFS_COST_UNKNOWN)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"large asynchronous H2D copies beside which nothing is computed take %s of the step; whether it waits for them cannot be told, as no cost can",
			tfs_figure_share(taken.exposed_ns / steady->step_ns).text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"large asynchronous H2D copies beside which nothing is computed take %s of the step; beside other work they would make it %s shorter",
			tfs_figure_share(taken.exposed_ns / steady->step_ns).text,
			tfs_figure_share(cost.ns / steady->step_ns).text);
}

static void judge(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_intervals *computed, struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_cost cost = {0};
	struct tfs_hits hits = {0};
	const unsigned unknown = collect(steady, &hits);
	const struct taken taken = taken_by(steady, hits.items, hits.count, computed);

	hide(&hits, hidden_part(steady, taken));
	if (taken.exposed_ns >= LEAST_SHARE * steady->step_ns)
		cost = price(steady, &hits);
	if (cost.ns >= LEAST_SHARE * steady->step_ns)
		report_all(steady, findings, &hits, computed);
	conclude(steady, findings, before, unknown, taken, cost, out_verdict);
	tfs_hits_finish(&hits);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_intervals computed = {0};

	if (tfs_memory_coherent(steady))
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_PASSED,
			"the device reads the host's memory as it is");
	else if (steady->run)
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known what waits for an H2D copy");
	else if (tfs_timeline_working_devices(steady->timeline) > 1)
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			"what runs beside an H2D copy is looked for on one device, and several worked");
	else if (computing(steady, &computed))
		findings->failed = true;
	else
		judge(steady, findings, &computed, out_verdict);
	tfs_intervals_finish(&computed);
}

const struct tfs_rule tfs_rule_tfs103 = {
	.id = "TFS103",
	.slug = "exposed-copy",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_DEVICE,
	.about = TFS_ABOUT_COPIES,
	.title = "kernels wait for asynchronous H2D copies",
	.why = "A copy to the device that is asynchronous does not hold the host, but on the stream that computes it holds the kernels after it, "
	       "and so it does on a stream of its own if they wait for it at once. "
	       "The copy engine works beside kernels: a batch that is copied while the one before is computed costs the step nothing.",
	.advice =
		"Copy the batch of the next step while this one is computed: give the input two device buffers and two pinned host buffers, used in turn, "
		"and call cudaMemcpyAsync for the next step on a separate copy stream before this step's kernels are launched. "
		"Record an event after each copy: let the compute stream wait for it with cudaStreamWaitEvent when the step that reads the buffer begins, "
		"and call cudaEventSynchronize on it before the host fills the pinned buffer again. "
		"In the same way let the copy stream wait for an event after the last kernel that reads a device buffer before it overwrites it. "
		"In PyTorch: .to(device, non_blocking=True) of the next batch in a torch.cuda.Stream of its own, wait_stream before it is used, and record_stream.",
	.detect = detect,
};
