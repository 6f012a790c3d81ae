/* SPDX-License-Identifier: MIT */
/*
 * TFS603: products and convolutions of floats on plain cores, where tensor cores could make them of
 * TF32. Which cores a kernel uses is in its name: calls do not tell, as libraries choose. Kernels
 * whose names say neither are not judged; nor are those that take as long as their bytes do.
 */
#include "rules/device/cores.h"
#include "rules/device/plans.h"
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Of the step, for all such kernels. */
#define SHARE 0.1
/* Small products gain half of their time, where large ones gain seven eighths: 512 x 512 x 512
 * takes 9.9 us instead of 20.8 on an H200, 4,096 x 4,096 x 4,096 326 instead of 2,698. */
#define SMALL_SCALE 0.5

/* How much longer floats take than TF32 on large products; 0 = no longer, or not known. */
static double times_faster(uint32_t compute)
{
	switch (compute >> 16) {
	case 8:
		/* A100: the data sheet's 156 and 19.5 TFLOP/s, times what the simulated device
		 * takes to be in reach of them (0.6 and 0.7): not measured. */
		return compute & 0xffff ? 0 : 7;
	case 9:
		return 8; /* H200: 421 against 51 TFLOP/s, measured */
	default:
		return 0;
	}
}

/* Of the device that works; of several, of the first. */
static double faster_here(const struct tfs_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->device_count; i++)
		if (timeline->devices[i].busy_ns && timeline->devices[i].record)
			return times_faster(timeline->devices[i].record->compute);
	return 0;
}

#define FLOATS 0 /* cudnnDataType_t; -1 = not known */

/* What makes the floats, by how TF32 is allowed. */
enum way { MULTIPLIES, CONVOLVES, PLANS, WAYS };

static const struct {
	const char *does, *many, *advice; /* NULL: the rule's own */
} ways[WAYS] = {
	[MULTIPLIES] = {"multiplies", "GEMMs", NULL},
	/* Where TF32 is allowed anyway, it is the algorithm, and another may be no faster. */
	[CONVOLVES] = {"convolves", "convolutions",
		"If results may be rounded a little more, and other algorithms are faster, allow TF32: give these convolutions' descriptors CUDNN_DEFAULT_MATH or CUDNN_TENSOR_OP_MATH "
		"(cudnnSetConvolutionMathType), and search their algorithms again. "
		"Inputs are rounded to 10 bits of mantissa, sums are not: check that training converges as before. "
		"In PyTorch: torch.backends.cudnn.allow_tf32 = True."},
	[PLANS] = {"has cuDNN's plans multiply", "GEMMs and convolutions",
		"If results may be rounded a little more, and cuDNN has a faster engine for these graphs that does so, let it be chosen: "
		"pass over no engine configuration because of CUDNN_NUMERICAL_NOTE_TENSOR_CORE (one with CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS computes in halves, which is not meant), and measure those that the heuristics propose. "
		"Inputs are rounded to 10 bits of mantissa, sums are not: check that training converges as before. "
		"In PyTorch: torch.backends.cudnn.allow_tf32 = True."},
};

static enum way way_of(const struct tfs_host_call *call, bool convolve)
{
	uint64_t operations;

	if (tfs_plan_read(call, &operations))
		return PLANS;
	return convolve ? CONVOLVES : MULTIPLIES;
}

/* Time by the cores that were used, and whether those of floats made convolutions. */
struct times {
	double ns[TFS_CORES_COUNT];
	bool convolve;
};

/* A plan says what it reads: what reads no floats would gain nothing. */
static bool reads_others(const struct tfs_host_call *call)
{
	uint64_t operations;

	return tfs_plan_read(call, &operations) && TFS_OPERATIONS_TYPE(operations) > FLOATS;
}

/* Whether an operation of the call may have been at moving its operands all the time. */
static bool only_moves(const struct tfs_steady *steady, const struct tfs_host_call *call, double ns)
{
	struct tfs_operand operand;
	unsigned cursor = 0;
	double bytes = 0;

	while (tfs_operand_next(steady->timeline, call, &cursor, &operand))
		bytes += operand.role & TFS_ROLE_SCRATCH ? 0 : (double)operand.bytes;
	return tfs_memory_paced(steady, ns, bytes);
}

/* Of a call's kernels. Those whose names say nothing count where a library's call made them. */
static void add_times(
	const struct tfs_steady *steady, const struct tfs_host_call *call, struct times *times)
{
	const struct tfs_timeline *timeline = steady->timeline;

	for (uint32_t i = 0; i < call->op_count && tfs_cores_library(steady, call); i++) {
		const struct tfs_device_op *op =
			&timeline->ops[timeline->call_ops[call->first_op + i]];
		const double ns = tfs_cores_ns(steady, op);

		if (ns <= 0)
			continue;
		const char *name = tfs_trace_kernel(timeline->trace, op->record->kernel);
		const enum tfs_cores cores = tfs_cores_of(name);

		/* Where the simulated device's names do not say, its tensor cores are no faster. */
		if (cores == TFS_CORES_UNKNOWN && (call->family == TFS_FAMILY_launch ||
							  reads_others(call) || steady->simulated))
			continue;
		if (cores == TFS_CORES_PLAIN &&
			only_moves(steady, call, (double)(op->end_ns - op->start_ns)))
			continue;
		times->ns[cores] += ns;
		times->convolve |= cores == TFS_CORES_PLAIN && tfs_cores_convolve(name);
	}
}

/* Per step, of the plain cores. */
static double plain_ns(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	struct times times = {0};

	for (size_t i = 0; i < count; i++)
		add_times(steady, &steady->timeline->calls[hits[i].call], &times);
	return times.ns[TFS_CORES_PLAIN] / (double)steady->step_count;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, size_t sites, enum way way, double faster)
{
	const double ns = plain_ns(steady, place->items, place->count);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"%s floats on plain cores for %s per step (%s of the step)%s%s%s; tensor cores make large %s of TF32 about %.0f times as fast on such a device",
		ways[way].does, tfs_figure_time(ns).text,
		tfs_figure_share(ns / steady->step_ns).text, sites > 1 ? ", at " : "",
		sites > 1 ? tfs_figure_number((double)sites, "call site", "call sites").text : "",
		sites > 1 ? ", of which this one takes longest" : "", ways[way].many, faster);

	if (!draft)
		return;
	draft->less_ns = ns * (SMALL_SCALE - 1 / faster);
	if (!ways[way].advice)
		return;
	draft->unsure = true;
	draft->finding.advice = ways[way].advice;
}

/* One switch allows TF32 for all of them: one finding, at the place that takes longest. */
static void report_all(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_hits *hits, enum way way, double faster)
{
	struct tfs_hits usual = {0};
	struct tfs_place all;
	const size_t sites = tfs_hits_join(steady, hits, plain_ns, &usual, &all);

	if (all.count)
		report(steady, findings, &all, sites, way, faster);
	tfs_hits_finish(&usual);
}

/* By shares of the step. */
static void conclude(const struct tfs_findings *findings, size_t before, const double *shares,
	double faster, struct tfs_verdict *out_verdict)
{
	const double plain = shares[TFS_CORES_PLAIN], tensor = shares[TFS_CORES_TENSOR],
		     unknown = shares[TFS_CORES_UNKNOWN];

	if (faster <= 1 && plain >= SHARE)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"GEMMs and convolutions of floats take %s of the step on plain cores; how fast this device's tensor cores are with TF32 is not known",
			tfs_figure_share(plain).text);
	else if (plain < SHARE && plain + unknown >= SHARE)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the names of kernels that take %s of the step do not say which cores they use",
			tfs_figure_share(unknown).text);
	else if (plain + tensor + unknown <= 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no library's kernel was seen that multiplies floats, and that tensor cores would be faster at");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"GEMMs and convolutions of floats take %s of the step on plain cores, others %s on tensor cores",
			tfs_figure_share(plain).text, tfs_figure_share(tensor).text);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const double faster = faster_here(steady->timeline);
	double shares[TFS_CORES_COUNT] = {0};
	struct tfs_hits hits[WAYS] = {0};

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct times times = {0};

		add_times(steady, call, &times);
		for (unsigned k = 0; k < TFS_CORES_COUNT; k++)
			shares[k] += times.ns[k] / ((double)steady->step_count * steady->step_ns);
		if (times.ns[TFS_CORES_PLAIN] > 0 && faster > 1)
			tfs_hits_add(&hits[way_of(call, times.convolve)], steady->calls[i], 0,
				(struct tfs_edit){.scale = (float)(1 / faster)});
	}
	for (unsigned i = 0; i < WAYS; i++) {
		if (shares[TFS_CORES_PLAIN] >= SHARE &&
			plain_ns(steady, hits[i].items, hits[i].count) >=
				SHARE / WAYS * steady->step_ns)
			report_all(steady, findings, &hits[i], (enum way)i, faster);
		tfs_hits_finish(&hits[i]);
	}
	conclude(findings, before, shares, faster, out_verdict);
}

const struct tfs_rule tfs_rule_tfs603 = {
	.id = "TFS603",
	.slug = "tensor-cores-idle",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE,
	.title = "floats multiplied without tensor cores",
	.why = "cuBLAS multiplies floats on plain cores unless it is told that TF32 will do; tensor cores are about eight times as fast. "
	       "TF32 rounds inputs to 10 bits of mantissa and sums in float, which most training does not notice. "
	       "The names of kernels say which cores they use. What is gained is a model: by the rates of devices of this kind for large GEMMs, half of the time for small ones. A GEMM of few columns takes as long as its matrices' bytes do, on any cores, and is left out.",
	.advice =
		"If results may be rounded a little more, allow TF32: cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) once, "
		"or the compute type CUBLAS_COMPUTE_32F_FAST_TF32 in cublasGemmEx and cublasLtMatmul. "
		"Inputs are rounded to 10 bits of mantissa, sums are not: check that training converges as before. "
		"In PyTorch: torch.set_float32_matmul_precision(\"high\"), or torch.autocast for bfloat16. "
		"If plain float is meant, ignore this rule.",
	.detect = detect,
};
