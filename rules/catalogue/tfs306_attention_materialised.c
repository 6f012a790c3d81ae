/* SPDX-License-Identifier: MIT */
/*
 * TFS306: attention whose scores go through memory: one product writes them, a softmax reads and
 * writes them, a second product reads what that made of them. One kernel can keep them on the chip.
 * Scores that stay in the second-level cache hardly cost anything, and are not minded.
 */
#include <math.h>

#include "rules/device/attention.h"
#include "rules/device/zeroing.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Of the step, for products and what is between them. */
#define LEAST_SHARE 0.05
/* Of devices that do not say what their second-level cache holds. */
#define CACHE_BYTES (64u << 20)
/* What does not leave the cache has to leave room for what else is read. */
#define CACHE_SHARE 0.5
/* A fused kernel computes products by this much slower than cuBLAS, */
#define SLOWER 0.25
/* and of the time that a softmax moves memory it takes this part for its sums. */
#define ARITHMETIC 0.1
/* Values that libraries have fused kernels for. */
#define HALF_BYTES 2u

static const struct tfs_device_record *device_of(
	const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t stream = steady->waits[steady->place[attention->calls[0]]].stream;
	const uint32_t device = stream == TFS_NONE ? TFS_NONE : timeline->streams[stream].device;

	return device < timeline->device_count ? timeline->devices[device].record : NULL;
}

static bool cached(const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	const struct tfs_device_record *device = device_of(steady, attention);
	const double cache =
		(double)(device && device->cache_bytes ? device->cache_bytes : CACHE_BYTES);

	return attention->bytes * attention->values <= CACHE_SHARE * cache;
}

/* What moving the scores once takes; 0 where it is not known how fast the device's memory is. */
static double pass_ns(const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	const struct tfs_device_record *device = device_of(steady, attention);
	const double rate = device ? (double)device->bandwidth / 1e9 : 0;

	return rate > 0 ? attention->bytes / rate : 0;
}

struct price {
	double fused_ns; /* what one kernel takes for all */
	double less_ns;  /* that it may save less, */
	double more_ns;  /* and more */
	double bytes;    /* that it does not move, for certain */
};

/* What a softmax takes to move the scores goes, and the time of kernels' starts; what it takes
 * beside may be for computing. What the products take for the scores goes as far as they do not
 * compute meanwhile, which is not seen. What is read later has to be written still, or to be
 * computed anew. */
static struct price price_of(const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	const double pass = pass_ns(steady, attention), floor = steady->kernel_floor_ns;
	const double products = tfs_attention_call_ns(steady, attention, 0) +
				tfs_attention_call_ns(steady, attention, attention->count - 1);
	const double between = tfs_attention_ns(steady, attention) - products;
	const double computing = fmax(products - 2 * floor - 2 * pass, 0);
	const double moving = fmin(between, (attention->count - 2) * (2 * pass + floor));
	const double written = fmin(pass, moving);
	const bool kept = attention->kept == TFS_KEPT_READ;

	return (struct price){
		.fused_ns = fmax(products - floor, 0) + between - moving + (kept ? written : 0),
		.less_ns = SLOWER * computing + ARITHMETIC * moving +
			   (attention->kept == TFS_KEPT_PERHAPS ? written : 0),
		.more_ns = fmin(2 * pass, fmax(products - 2 * floor, 0)) + between - moving +
			   (kept ? written : 0),
		.bytes = attention->bytes * (2 * (attention->count - 1) - kept),
	};
}

static void edit(const struct tfs_steady *steady, const struct tfs_attention *attention,
	struct tfs_hits *firsts)
{
	const double first = tfs_attention_call_ns(steady, attention, 0);
	const struct price price = price_of(steady, attention);

	tfs_hits_add(firsts, attention->calls[0], (uint64_t)price.bytes,
		(struct tfs_edit){.scale = first > 0 ? (float)(price.fused_ns / first) : 0});
}

static const char *advise(struct tfs_arena *arena, const struct tfs_attention *attention)
{
	static const char *const again[] = {
		[TFS_KEPT_NOT] = "",
		[TFS_KEPT_PERHAPS] =
			"If something reads scores or probabilities later, as a backward pass does, have it compute them anew, block by block, from the maximum and the sum of each row, or let the kernel write them still. ",
		[TFS_KEPT_READ] =
			"Something reads scores or probabilities later: have it, as a fused backward pass does, compute them anew, block by block, from the maximum and the sum of each row, or let the kernel write them still. ",
	};

	return tfs_arena_print(arena,
		"%sompute attention in one kernel that keeps the scores on the chip: %s. "
		"%sResults differ by rounding, as sums are in another order. "
		"In PyTorch: torch.nn.functional.scaled_dot_product_attention.",
		attention->own
			? "If the kernels between the two GEMMs are a softmax of each row, with scaling, masking or dropout at most, c"
			: "C",
		attention->element_bytes == HALF_BYTES
			? "cuDNN (scaled dot product attention, in its graph API) and FlashAttention have such kernels; check which head sizes your version supports"
			: "one of your own, as those of cuDNN and FlashAttention take FP16 and BF16 only",
		again[attention->kept]);
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_attentions *attentions, const struct tfs_place *place)
{
	const struct tfs_attention *first = tfs_attentions_at(attentions, place->items->call);
	const double steps = (double)steady->step_count;
	double ns = 0, less_ns = 0, more_ns = 0;
	struct tfs_hits rest = {0};
	struct tfs_draft *draft;

	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_attention *attention =
			tfs_attentions_at(attentions, place->items[i].call);
		const struct price price = price_of(steady, attention);

		ns += tfs_attention_ns(steady, attention);
		less_ns += price.less_ns;
		more_ns += price.more_ns;
		for (uint32_t j = 1; j < attention->count; j++)
			tfs_hits_add(
				&rest, attention->calls[j], 0, (struct tfs_edit){.gone = true});
	}
	draft = tfs_findings_add(findings, place, &rest,
		"%s in %u calls, which pass %s %s through memory from one to the next and take %s of the GPU's time%s",
		first->own ? "computes what looks like attention" : "computes attention",
		first->count, tfs_figure_bytes((double)place->bytes / steps).text,
		tfs_steady_each(steady), tfs_figure_share(ns / steps / steady->busy_ns).text,
		first->kept == TFS_KEPT_READ ? "; something reads scores or probabilities later"
					     : "");
	tfs_hits_finish(&rest);
	if (!draft)
		return;
	draft->finding.advice = advise(findings->arena, first);
	draft->less_ns = less_ns / steps;
	draft->more_ns = more_ns / steps;
	draft->unsure = first->own;
	if (first->own)
		draft->most = TFS_LEVEL_NOTE;
}

/* What was seen of attention, and what may be some, in nanoseconds per step. */
struct seen {
	double large_ns;  /* that leaves the cache */
	double opaque_ns; /* with calls in between that may use anything */
	double guess_ns;  /* with a kernel in between that may be no softmax */
	double lists_ns;  /* products whose matrices are in lists */
	double graphs_ns;
	size_t small;
	uint32_t opaque; /* one of these calls, or TFS_NONE */
};

static bool lists(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_gemm && tfs_zeros_opaque(steady->timeline, call);
}

static struct seen look(const struct tfs_steady *steady, const struct tfs_attentions *attentions,
	struct tfs_hits *firsts)
{
	const double steps = (double)steady->step_count;
	struct seen seen = {.opaque = TFS_NONE};

	for (size_t i = 0; i < attentions->count; i++) {
		const struct tfs_attention *attention = &attentions->items[i];
		const double ns = tfs_attention_ns(steady, attention) / steps;

		if (cached(steady, attention)) {
			seen.small++;
		} else if (attention->opaque != TFS_NONE) {
			seen.opaque = attention->opaque;
			seen.opaque_ns += ns;
		} else if (attention->guessed) {
			seen.guess_ns += ns;
		} else {
			seen.large_ns += ns;
			edit(steady, attention, firsts);
		}
	}
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const double ns = tfs_steady_device_ns(steady, call) / steps;

		seen.lists_ns += lists(steady, call) ? ns : 0;
		seen.graphs_ns += call->family == TFS_FAMILY_graph_launch ? ns : 0;
	}
	return seen;
}

static void conclude(const struct tfs_steady *steady, const struct seen *seen, double unordered_ns,
	double whole, const struct tfs_findings *findings, size_t before,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;

	if (seen->opaque_ns >= LEAST_SHARE * whole) {
		const struct tfs_host_call *opaque = &timeline->calls[seen->opaque];

		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"between calls that look like attention, a call of %s may use what they pass on: what it works on was not seen",
			tfs_trace_function(timeline->trace, opaque->function));
		out_verdict->site = opaque->record->site;
	} else if (seen->guess_ns >= LEAST_SHARE * whole) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"batched GEMMs with a kernel of the program between them, which works row by row, take %s of the GPU's time; whether that is a softmax was not seen",
			tfs_figure_share(seen->guess_ns / steady->busy_ns).text);
	} else if (seen->lists_ns >= LEAST_SHARE * whole) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"GEMMs of matrices in lists take %s of the GPU's time; what they read and write was not recorded",
			tfs_figure_share(seen->lists_ns / steady->busy_ns).text);
	} else if (unordered_ns >= LEAST_SHARE * whole) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"batched GEMMs take %s of the GPU's time; in which order their matrices lie was not recorded",
			tfs_figure_share(unordered_ns / steady->busy_ns).text);
	} else if (seen->graphs_ns >= LEAST_SHARE * whole) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"graphs take %s of the GPU's time; which GEMMs are in them was not recorded",
			tfs_figure_share(seen->graphs_ns / steady->busy_ns).text);
	} else if (seen->large_ns > 0) {
		tfs_verdict_set(out_verdict, findings, before,
			steady->run ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED,
			steady->run
				? "there is attention that passes scores through memory, but no training steps were found"
				: "attention that passes scores through memory takes less than %.0f %% of the step, or is not in usual ones",
			100 * LEAST_SHARE);
	} else {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			seen->small
				? "the scores of attention stay in the second-level cache"
				: "no batched GEMM's result becomes rows of probabilities for another one");
	}
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const double whole = steady->simulated ? steady->busy_ns : steady->step_ns;
	const size_t before = findings->count;
	struct tfs_attentions attentions;
	struct tfs_hits firsts = {0};
	struct tfs_place place = {0};
	struct seen seen;

	if (tfs_attentions_find(steady, &attentions)) {
		findings->failed = true;
		return;
	}
	seen = look(steady, &attentions, &firsts);
	while (!steady->run && whole > 0 && seen.large_ns >= LEAST_SHARE * whole &&
		tfs_hits_next(steady, &firsts, &place))
		if (!place.seldom)
			report(steady, findings, &attentions, &place);
	conclude(steady, &seen, attentions.unordered_ns / (double)steady->step_count, whole,
		findings, before, out_verdict);
	tfs_hits_finish(&firsts);
	tfs_attentions_finish(&attentions);
}

const struct tfs_rule tfs_rule_tfs306 = {
	.id = "TFS306",
	.slug = "attention-materialised",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_LAUNCHES,
	.title = "attention that passes its scores through memory",
	.why = "Attention has a score for each pair of positions: with 1,024 positions and heads of 64 values, 16 times as many scores as the queries have values. "
	       "Where one GEMM writes the scores, a softmax reads and writes them and a second GEMM reads them again, memory bandwidth limits all three. "
	       "One kernel can work through them block by block and keep a block on the chip.",
	.advice = "Compute attention in one kernel that keeps the scores on the chip. "
		  "In PyTorch: torch.nn.functional.scaled_dot_product_attention.",
	.detect = detect,
};
