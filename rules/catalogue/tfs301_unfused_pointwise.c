/* SPDX-License-Identifier: MIT */
/*
 * TFS301: elementwise operations that follow each other through memory. Library calls are told by
 * what they are, the program's own kernels by shape, arguments and data flow, never by name. One
 * elementwise kernel alone, reductions, products and normalisations make no chain.
 */
#include <string.h>

#include "rules/device/chains.h"
#include "rules/device/kernels.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* All chains together must be worth this much of the step. */
#define WORTHWHILE 0.02
/* Kernels of which nothing is known leave it open from this share of the device's time on. */
#define UNCLASSIFIED 0.02
/* Between two small kernels that follow each other. */
#define GAP_NS 1500.0

/* The first call does the work of all. */
static void edit_chain(
	const struct tfs_steady *steady, const struct tfs_chain *chain, struct tfs_hits *firsts)
{
	double first = tfs_steady_device_ns(steady, &steady->timeline->calls[chain->calls[0]]);
	double fused = tfs_chain_ns(steady, chain) * (1 - tfs_chain_needless(chain));
	struct tfs_edit edit = {.scale = first > 0 ? (float)(fused / first) : 0};

	tfs_hits_add(firsts, chain->calls[0], (uint64_t)chain->removable, edit);
}

/* The members' names, in order. */
static const char *name_chain(
	const struct tfs_steady *steady, struct tfs_arena *arena, const struct tfs_chain *chain)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const char *names = "";

	for (uint32_t i = 0; i < chain->count; i++) {
		const struct tfs_host_call *call = &timeline->calls[chain->calls[i]];

		names = tfs_arena_print(arena, "%s%s%s", names, i ? ", " : "",
			call->family == TFS_FAMILY_launch
				? "a kernel"
				: tfs_trace_function(timeline->trace, call->function));
	}
	return names;
}

/* A bias and an activation behind a convolution, which cuDNN does in the convolution's own call; it
 * keeps nothing of what is in between. */
static bool biased(const struct tfs_timeline *timeline, const struct tfs_chain *chain)
{
	return chain->before != TFS_NONE &&
	       timeline->calls[chain->before].family == TFS_FAMILY_conv_forward &&
	       chain->count == 2 && !chain->kept &&
	       timeline->calls[chain->calls[0]].family == TFS_FAMILY_bias &&
	       timeline->calls[chain->calls[1]].family == TFS_FAMILY_activation;
}

static const char *advise(const struct tfs_steady *steady, struct tfs_arena *arena,
	const struct tfs_chain *chain, const char *names)
{
	const struct tfs_timeline *timeline = steady->timeline;
	bool product = chain->before != TFS_NONE &&
		       timeline->calls[chain->before].family == TFS_FAMILY_gemm;

	if (biased(timeline, chain))
		return tfs_arena_print(arena,
			"If the activation is ReLU, "
			"replace cudnnConvolutionForward and the calls after it (%s) with one cudnnConvolutionBiasActivationForward, "
			"which saves as much as the interval's high end; "
			"otherwise write one kernel for the calls after it, which saves the low end.",
			names);
	if (!chain->own)
		return tfs_arena_print(arena, "Fuse %s into one pass: one kernel of your own%s.",
			names,
			product ? ", or, if they add a bias to each row and apply ReLU, "
				  "the epilogue of the GEMM before them (cublasLtMatmul with CUBLASLT_EPILOGUE_RELU_BIAS)"
				: "");
	return "If each thread of these kernels reads only the intermediate element that it writes (no reduction, neighbours or other order), "
	       "fuse them into one kernel that keeps the values in registers from the first operation to the last. "
	       "What the kernels compute was not seen.";
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_chains *chains, struct tfs_hits *firsts)
{
	struct tfs_place place = {0};

	while (tfs_hits_next(steady, firsts, &place)) {
		const struct tfs_chain *chain = tfs_chains_at(chains, place.items->call);
		const char *names = name_chain(steady, findings->arena, chain);
		struct tfs_hits rest = {0};
		struct tfs_draft *draft;

		if (place.seldom)
			continue;
		double fused_ns = 0;

		for (size_t i = 0; i < place.count; i++) {
			const struct tfs_chain *mine = tfs_chains_at(chains, place.items[i].call);

			if (biased(steady->timeline, mine))
				fused_ns +=
					tfs_chain_ns(steady, mine) * (1 - tfs_chain_needless(mine));
			for (uint32_t j = 1; j < mine->count; j++)
				tfs_hits_add(
					&rest, mine->calls[j], 0, (struct tfs_edit){.gone = true});
		}
		draft = tfs_findings_add(findings, &place, &rest,
			"starts a chain of %u operations that %s elementwise (%s) and pass %s %s through memory%s",
			chain->count, chain->own ? "look" : "are", names,
			tfs_figure_bytes((double)place.bytes / (double)steady->step_count).text,
			tfs_steady_each(steady),
			chain->own ? " from one to the next" : " needlessly");
		if (draft) {
			draft->unsure = chain->own;
			draft->finding.advice = advise(steady, findings->arena, chain, names);
			draft->beside_ns = fused_ns / steady->step_count;
		}
		tfs_hits_finish(&rest);
	}
}

/* Whether kernels of which nothing is known take a part of the time. */
static bool unclassified(const struct tfs_steady *steady)
{
	double ns = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (tfs_kernel_unseen(steady->timeline, call))
			ns += tfs_steady_device_ns(steady, call);
	}
	return ns > 0 && ns >= UNCLASSIFIED * steady->busy_ns * steady->step_count;
}

static const char *describe(struct tfs_arena *arena, size_t chains, double share)
{
	if (!chains)
		return "no elementwise operation reads another one's result from memory";
	return tfs_arena_print(arena, "%s of elementwise operations, worth %s of the step",
		tfs_figure_number((double)chains, "chain", "chains").text,
		tfs_figure_share(share).text);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits firsts = {0};
	size_t before = findings->count;
	double saved = 0, whole = steady->simulated ? steady->busy_ns : steady->step_ns;
	struct tfs_chains chains;

	if (tfs_chains_find(steady, &chains)) {
		findings->failed = true;
		return;
	}
	for (size_t i = 0; i < chains.count; i++) {
		edit_chain(steady, &chains.items[i], &firsts);
		saved += tfs_chain_ns(steady, &chains.items[i]) *
				 tfs_chain_needless(&chains.items[i]) +
			 (chains.items[i].count - 1) * GAP_NS;
	}
	saved /= steady->step_count ? steady->step_count : 1;
	if (!steady->activity || saved >= WORTHWHILE * whole)
		report(steady, findings, &chains, &firsts);
	/* Which of the program's own kernels are elementwise is told by their time. */
	if (!steady->activity)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no GPU activity was recorded: kernels of the program cannot be identified");
	else if (unclassified(steady))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"kernels of the program without pointer arguments take %.0f %% or more of GPU time; "
			"their operands were not seen",
			100 * UNCLASSIFIED);
	else if (steady->run && chains.count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known what share of a step %s of elementwise operations take",
			tfs_figure_number((double)chains.count, "chain", "chains").text);
	else if (!chains.unclear ||
		 saved + chains.unclear_ns / steady->step_count < WORTHWHILE * whole)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED, "%s",
			describe(findings->arena, chains.count, whole > 0 ? saved / whole : 0));
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s memory; it was not seen whether the program's kernels among them read only the element that they write",
			tfs_figure_number(chains.unclear, "pair of operations shares",
				"pairs of operations share")
				.text);
	tfs_hits_finish(&firsts);
	tfs_chains_finish(&chains);
}

const struct tfs_rule tfs_rule_tfs301 = {
	.id = "TFS301",
	.slug = "unfused-pointwise",
	.level = TFS_LEVEL_NOTE,
	.anywhere = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_FAMILIES | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_LAUNCHES,
	.title = "elementwise operations that could be fused",
	.why = "A bias, an activation or a scaling each reads all of a tensor and writes it again, "
	       "so memory bandwidth limits it. "
	       "Fused into one pass, intermediate values stay in registers and one launch is enough. "
	       "A value that a later call reads must be written anyway and is not counted.",
	.advice = "Fuse these elementwise operations into one pass.",
	.detect = detect,
};
