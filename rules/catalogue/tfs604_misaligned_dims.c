/* SPDX-License-Identifier: MIT */
/*
 * TFS604: products on tensor cores whose matrices are not aligned to 16 bytes, so that they are
 * loaded in small pieces. What counts is where columns begin, in elements of the library's
 * column-major order: addresses and leading dimensions. Convolutions are not judged: cuDNN pads
 * their channels itself.
 */
#include "rules/device/cores.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Of the step, for all such products. */
#define SHARE 0.1
/* Bytes that a tensor core's operands are loaded by. */
#define ALIGNED 16u
/* An aligned product of 4,096 x 4,096 x 4,096 takes this part of one with a dimension of 4,095, on
 * an H200: 326 of 987 us with TF32, 163 of 981 with halves; and of small ones, of a thousand and
 * some hundreds, hardly less. */
#define TF32_SCALE (1 / 3.0)
#define HALF_SCALE (1 / 6.0)
#define SMALL_SCALE 0.9

struct product {
	uint32_t element; /* bytes */
	uint32_t aligned; /* bytes, at most ALIGNED; 0 = not known */
	double ns;        /* on tensor cores, beyond what the shortest kernel takes */
};

/* False where it does not multiply on tensor cores. */
static bool read_product(const struct tfs_steady *steady, const struct tfs_host_call *call,
	struct product *out_product)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint64_t alignment = tfs_steady_attribute(call, TFS_ATTRIBUTE_alignment, 0);

	*out_product = (struct product){
		TFS_ALIGNMENT_ELEMENT(alignment), TFS_ALIGNMENT_BYTES(alignment), 0};
	for (uint32_t i = 0; i < call->op_count && tfs_cores_library(steady, call); i++) {
		const struct tfs_device_op *op =
			&timeline->ops[timeline->call_ops[call->first_op + i]];
		const double ns = tfs_cores_ns(steady, op);

		if (ns <= 0)
			continue;
		const char *name = tfs_trace_kernel(timeline->trace, op->record->kernel);

		if (tfs_cores_of(name) == TFS_CORES_TENSOR && !tfs_cores_convolve(name))
			out_product->ns += ns;
	}
	/* What others gain was not measured. */
	if (out_product->element != 2 && out_product->element != 4)
		out_product->aligned = 0;
	return out_product->ns > 0;
}

static double scale_of(const struct product *product)
{
	return product->element == 4 ? TF32_SCALE : HALF_SCALE;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const struct tfs_host_call *call = &steady->timeline->calls[place->items->call];
	double ns = 0, gain_ns = 0;
	struct product product;
	struct tfs_draft *draft;

	for (size_t i = 0; i < place->count; i++) {
		read_product(steady, &steady->timeline->calls[place->items[i].call], &product);
		ns += product.ns / (double)steady->step_count;
		gain_ns += (SMALL_SCALE - scale_of(&product)) * product.ns /
			   (double)steady->step_count;
	}
	read_product(steady, call, &product);
	draft = tfs_findings_add(findings, place, NULL,
		"multiplies on tensor cores for %s per step (%s of the step), with columns that begin at multiples of only %u bytes; "
		"on an H200, large GEMMs of %u-byte elements that are aligned to %u take a %s of the time",
		tfs_figure_time(ns).text, tfs_figure_share(ns / steady->step_ns).text,
		product.aligned, product.element, ALIGNED,
		product.element == 4 ? "third" : "sixth");
	if (draft) {
		draft->less_ns = gain_ns;
		draft->most = TFS_LEVEL_NOTE; /* it was not measured here */
	}
}

struct sums {
	double all_ns, misaligned_ns, unknown_ns; /* per step */
};

static void conclude(const struct tfs_steady *steady, const struct tfs_findings *findings,
	size_t before, const struct sums *sums, struct tfs_verdict *out_verdict)
{
	const bool unknown = sums->unknown_ns > 0;

	if (sums->unknown_ns >= SHARE * steady->step_ns)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"how matrices are aligned that are multiplied for %s of the step was not recorded, or what that costs is not known",
			tfs_figure_share(sums->unknown_ns / steady->step_ns).text);
	else if (sums->all_ns <= 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no library's GEMM on tensor cores takes twice as long as the shortest kernel");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"GEMMs on tensor cores take %s of the step; those with matrices that are not aligned, %s of the step%s%s%s",
			tfs_figure_share(sums->all_ns / steady->step_ns).text,
			tfs_figure_share(sums->misaligned_ns / steady->step_ns).text,
			unknown ? "; what alignment costs is not known for " : "",
			unknown ? tfs_figure_share(sums->unknown_ns / steady->step_ns).text : "",
			unknown ? " of the step" : "");
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	struct sums sums = {0};

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct product product;
		double ns;

		if (!read_product(steady, tfs_steady_call(steady, i), &product))
			continue;
		ns = product.ns / (double)steady->step_count;
		sums.all_ns += ns;
		sums.unknown_ns += product.aligned ? 0 : ns;
		if (!product.aligned || product.aligned >= ALIGNED)
			continue;
		sums.misaligned_ns += ns;
		tfs_hits_add(&hits, steady->calls[i], 0,
			(struct tfs_edit){.scale = (float)scale_of(&product)});
	}
	while (sums.misaligned_ns >= SHARE * steady->step_ns &&
		tfs_hits_next(steady, &hits, &place))
		if (!place.seldom)
			report(steady, findings, &place);
	conclude(steady, findings, before, &sums, out_verdict);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs604 = {
	.id = "TFS604",
	.slug = "misaligned-dims",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE,
	.title = "GEMMs on tensor cores with matrices that are not aligned",
	.why = "Tensor cores are fed 16 bytes at a time. Where an address or a leading dimension is no multiple of that, libraries load single elements, and large GEMMs take three times as long with TF32, six times with halves. "
	       "What is gained is a model: by those rates, measured on an H200, and hardly anything for small GEMMs.",
	.advice =
		"Make the leading dimensions of these matrices multiples of 8 elements (of 4 for TF32), and align their addresses to 16 bytes: "
		"allocate them with padded columns and give the padded length as the leading dimension, or choose sizes that are such multiples (layers, batch, vocabulary). "
		"Fill what is padded with 0 where it is summed over. "
		"In PyTorch: pad the layer's sizes and the vocabulary to multiples of 8.",
	.detect = detect,
};
