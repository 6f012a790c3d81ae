/* SPDX-License-Identifier: MIT */
/*
 * TFS605: a bias is added to each channel of what goes to a batch normalisation in training, and to
 * nothing else. That subtracts each channel's mean, and the bias with it: neither the sum nor its
 * gradient changes what the net learns.
 */
#include <string.h>

#include "rules/device/plans.h"
#include "rules/device/used.h"
#include "rules/device/zeroing.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/timeline/flow.h"

/* Uses of what a bias was added to that are looked at. */
#define MOST_USES 64u

static bool adds_whole(const struct tfs_host_call *call)
{
	const uint64_t bits = tfs_steady_attribute(call, TFS_ATTRIBUTE_beta, 0);
	double beta;

	memcpy(&beta, &bits, sizeof(beta));
	return beta == 1;
}

/* A call that adds a bias to a tensor: what it reads, and what it adds that to. */
static bool adds_bias(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_operand *out_bias, struct tfs_operand *out_sum)
{
	const struct tfs_used operands = tfs_used_by(timeline, call);

	if (call->family != TFS_FAMILY_bias || call->record->status || operands.count != 2 ||
		!adds_whole(call) || tfs_steady_attribute(call, TFS_ATTRIBUTE_by_channel, 0) == 2)
		return false;
	*out_bias = operands.items[0];
	*out_sum = operands.items[1];
	return out_sum->range != TFS_NONE && out_sum->role & TFS_ROLE_WRITE && out_bias->bytes &&
	       out_bias->bytes < out_sum->bytes;
}

/* How a normalisation uses a tensor. */
enum use {
	USE_OTHER,
	USE_TRAINS,   /* normalises it by its own mean */
	USE_BACKWARD, /* takes it again, for gradients */
};

/* One in training writes more than its result: mean and variance. One by statistics that are kept
 * does not. What goes backward reads a gradient behind its input. Parameters are floats where what
 * is normalised is of halves. */
static enum use use_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *sum, const struct tfs_operand *bias)
{
	const struct tfs_used operands = tfs_used_by(timeline, call);
	const struct tfs_operand *items = operands.items;
	unsigned written = 0;

	if (call->family != TFS_FAMILY_normalisation || call->record->status ||
		operands.count < 4 || items[0].address != sum->address ||
		items[0].bytes != sum->bytes)
		return USE_OTHER;
	for (unsigned i = 1; i < operands.count; i++) {
		if (items[i].address < sum->address + sum->bytes &&
			sum->address < items[i].address + items[i].bytes)
			return USE_OTHER;
		written += !!(items[i].role & TFS_ROLE_WRITE);
	}
	if (!(items[1].role & TFS_ROLE_WRITE))
		return written > 1 ? USE_BACKWARD : USE_OTHER;
	return written > 1 && (items[2].bytes == bias->bytes || items[2].bytes == 2 * bias->bytes)
		       ? USE_TRAINS
		       : USE_OTHER;
}

/* Of the gradient that a normalisation writes, the sums by channel, which are a bias's, are 0. */
static void add_gradients(const struct tfs_steady *steady, uint32_t backward, struct tfs_hits *out)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_used operands = tfs_used_by(timeline, &timeline->calls[backward]);
	const struct tfs_operand *gradient = &operands.items[2];
	uint32_t at = backward;

	if (gradient->range == TFS_NONE || !(gradient->role & TFS_ROLE_WRITE))
		return;
	for (unsigned i = 0; i < MOST_USES; i++) {
		const struct tfs_access *use = tfs_flow_after(timeline, at, gradient->range,
			gradient->address - timeline->ranges[gradient->range].address,
			gradient->bytes, TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE);

		if (!use || use->role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE))
			return;
		at = use->call;
		if (timeline->calls[at].family == TFS_FAMILY_conv_backward_bias)
			tfs_hits_add(out, at, 0, (struct tfs_edit){.gone = true});
	}
}

/* Whether everything that reads a sum normalises it in training; `gradients` gets the calls that
 * compute the bias's gradient. */
static bool cancels(const struct tfs_steady *steady, uint32_t index, struct tfs_hits *gradients)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_operand bias, sum;
	bool trains = false;
	uint32_t at = index;

	if (!adds_bias(timeline, &timeline->calls[index], &bias, &sum))
		return false;
	for (unsigned i = 0; i < MOST_USES; i++) {
		const struct tfs_access *access = tfs_flow_after(timeline, at, sum.range,
			sum.address - timeline->ranges[sum.range].address, sum.bytes,
			TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE);
		enum use use;

		/* Behind the last step that is not seen. */
		if (!access || tfs_zeros_replaced(timeline, &timeline->calls[access->call], &sum))
			return trains;
		at = access->call;
		use = use_of(timeline, &timeline->calls[at], &sum, &bias);
		if (use == USE_OTHER || (use == USE_BACKWARD && !trains))
			return false;
		trains = true;
		if (use == USE_BACKWARD)
			add_gradients(steady, at, gradients);
	}
	return false;
}

static bool normalises(const struct tfs_steady *steady)
{
	for (uint32_t i = 0; i < steady->call_count; i++)
		if (tfs_steady_call(steady, i)->family == TFS_FAMILY_normalisation)
			return true;
	return false;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, bool unseen)
{
	struct tfs_hits gradients = {0};
	struct tfs_draft *draft;

	for (size_t i = 0; i < place->count; i++)
		cancels(steady, place->items[i].call, &gradients);
	draft = tfs_findings_add(findings, place, &gradients,
		"adds a bias, which batch normalisation takes away again, to %s %s in %s%s%s",
		tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
		tfs_steady_each(steady), tfs_place_calls(place, steady).text,
		gradients.count ? "; its gradient takes " : "",
		gradients.count
			? tfs_figure_number((double)gradients.count / (double)steady->step_count,
				  "call more", "calls more")
				  .text
			: "");
	tfs_hits_finish(&gradients);
	if (!draft || !unseen)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice = tfs_arena_print(findings->arena,
		"If no kernel of the program reads the sum beside the normalisation: %s",
		findings->rule->advice);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const bool unseen = tfs_zeros_any_opaque(steady);
	struct tfs_hits hits = {0}, ignored = {0};
	struct tfs_place place = {0};
	unsigned rare = 0, unknown = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_operand bias, sum;

		if (!adds_bias(steady->timeline, call, &bias, &sum) ||
			!cancels(steady, steady->calls[i], &ignored))
			continue;
		if (tfs_steady_attribute(call, TFS_ATTRIBUTE_by_channel, 0))
			tfs_hits_add(&hits, steady->calls[i], sum.bytes,
				(struct tfs_edit){.gone = true});
		else
			unknown++;
	}
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		report(steady, findings, &place, unseen);
	const bool plans = tfs_plans_count(steady, TFS_OPERATION_NORMALISATION) ||
			   (normalises(steady) && tfs_plans_count(steady, TFS_OPERATION_POINTWISE));

	if (plans)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"what plans of cuDNN's graph API add, and what they normalise, was not recorded");
	else if (!normalises(steady))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call of cuDNN normalises a batch");
	else if (unknown)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"whether what %s to a tensor is one number for each channel was not recorded",
			tfs_figure_number(unknown, "call adds", "calls add").text);
	else if (unseen)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"what the program's own kernels add to a tensor, and what they read, is not seen whole");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call adds a bias to what goes to a batch normalisation alone%s",
			tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely")
				.text);
	tfs_hits_finish(&ignored);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs605 = {
	.id = "TFS605",
	.slug = "bias-before-batchnorm",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_FAMILIES | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_LAUNCHES,
	.library = TFS_LIBRARY_cudnn,
	.title = "a bias in front of batch normalisation",
	.why = "In training batch normalisation subtracts the mean of each channel, and a bias of the channel with it: the result is the same without, but for rounding. "
	       "Adding the bias reads and writes the whole tensor, its gradient reads one again and is 0, but for rounding.",
	.advice =
		"Leave out this bias, its gradient and its update, also where the net is only evaluated: the shift of the normalisation does its work. "
		"Of weights that were saved with the bias, subtract it from the running mean once. "
		"In PyTorch: bias=False in the convolution or linear layer in front of BatchNorm.",
	.detect = detect,
};
