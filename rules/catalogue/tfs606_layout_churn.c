/* SPDX-License-Identifier: MIT */
/*
 * TFS606: tensors are copied from one layout into another: by calls of the program, or by cuDNN
 * around kernels that work on the other one, which their names tell.
 */
#include "rules/device/cores.h"
#include "rules/device/plans.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Of the GPU's time. */
#define LEAST_SHARE 0.03
/* A place that has less than this of what all of them take is not told. */
#define PLACE_SHARE 0.05

static const char *kernel_of(const struct tfs_steady *steady, const struct tfs_device_op *op)
{
	return op->record->operation == TFS_DEVICE_KERNEL
		       ? tfs_trace_kernel(steady->timeline->trace, op->record->kernel)
		       : "";
}

/* A kernel of the program's own may have any name. */
static bool by_library(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	return tfs_trace_fact(steady->timeline->trace, TFS_FACT_imported) ||
	       (call->family != TFS_FAMILY_launch && call->family != TFS_FAMILY_graph_launch);
}

/* The device's time for changing layouts in a call. */
static double turning_ns(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double ns = 0;

	if (call->record->status)
		return 0;
	if (call->family == TFS_FAMILY_transform)
		return tfs_steady_attribute(call, TFS_ATTRIBUTE_turned, 0) == 1
			       ? tfs_steady_device_ns(steady, call)
			       : 0;
	for (uint32_t i = 0; i < call->op_count && by_library(steady, call); i++) {
		const struct tfs_device_op *op =
			&timeline->ops[timeline->call_ops[call->first_op + i]];

		if (tfs_cores_turn(kernel_of(steady, op)))
			ns += tfs_device_op_ns(op);
	}
	return ns;
}

/* In graphs, per step, of kernels that are named so: whose they are is not seen. */
static double graphs_ns(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double ns = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		for (uint32_t j = 0; call->family == TFS_FAMILY_graph_launch && j < call->op_count;
			j++) {
			const struct tfs_device_op *op =
				&timeline->ops[timeline->call_ops[call->first_op + j]];

			if (tfs_cores_turn(kernel_of(steady, op)))
				ns += tfs_device_op_ns(op);
		}
	}
	return ns / (double)steady->step_count;
}

/* What is left of a call without it. */
static struct tfs_edit without(
	const struct tfs_steady *steady, const struct tfs_host_call *call, double ns)
{
	const double all_ns = tfs_steady_device_ns(steady, call);

	return ns >= all_ns ? (struct tfs_edit){.gone = true}
			    : (struct tfs_edit){.scale = (float)(1 - ns / all_ns)};
}

/* What a call writes, where the program asks for it. */
static uint64_t bytes_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	while (call->family == TFS_FAMILY_transform &&
		tfs_operand_next(timeline, call, &cursor, &operand))
		if (operand.role & TFS_ROLE_WRITE)
			return operand.bytes;
	return 0;
}

static double place_ns(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += turning_ns(steady, &steady->timeline->calls[hits[i].call]);
	return ns / (double)steady->step_count;
}

/* What to do where cuDNN turns tensors by itself. */
static const char *advice_of(const struct tfs_host_call *call)
{
	uint64_t plan = 0;

	if (!tfs_plan_read(call, &plan))
		return "If the layers around this one can work on NHWC tensors (cuDNN's normalisation, pooling and activation can), "
		       "keep activations and filters in NHWC from the first layer to the last: CUDNN_TENSOR_NHWC in their descriptors. "
		       "In PyTorch: model.to(memory_format=torch.channels_last), and the input too.";
	if (TFS_OPERATIONS_LAYOUT(plan) == TFS_LAYOUT_CHANNELS_LAST)
		return "If cuDNN has a faster engine for this graph, whose tensors are NHWC already, let it be chosen: measure the engine configurations that the heuristics propose, as this one works on NCHW.";
	return "If the layers around this one can work on NHWC tensors, give the graph's tensors the strides of NHWC (1 for channels), filters too, and keep activations so from the first layer to the last. "
	       "In PyTorch: model.to(memory_format=torch.channels_last), and the input too.";
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, size_t sites)
{
	const struct tfs_host_call *call = &steady->timeline->calls[place->items->call];
	const bool asked = call->family == TFS_FAMILY_transform;
	const char *callers = place->folded ? ", called from several call sites" : "";
	const double ns = place_ns(steady, place->items, place->count);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"%s tensors from one layout into another in %s%s, which takes %s of the GPU's time%s%s%s",
		asked ? "copies" : "has cuDNN copy", tfs_place_calls(place, steady).text, callers,
		tfs_figure_share(ns / steady->busy_ns).text, sites ? "; these are of " : "",
		sites ? tfs_figure_number((double)sites, "call site", "call sites").text : "",
		sites ? ", of which this one takes longest" : "");

	if (!draft || asked)
		return;
	draft->unsure = true;
	draft->finding.advice = advice_of(call);
}

static void report_places(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_hits *hits, double all_ns)
{
	const size_t before = findings->count;
	struct tfs_hits usual = {0};
	struct tfs_place place = {0};
	size_t sites;

	while (tfs_hits_next(steady, hits, &place))
		if (!place.seldom &&
			place_ns(steady, place.items, place.count) >= PLACE_SHARE * all_ns)
			report(steady, findings, &place, 0);
	if (findings->count > before)
		return;
	/* Where none has a part worth telling, the largest stands for all. */
	sites = tfs_hits_join(steady, hits, place_ns, &usual, &place);
	if (place.count)
		report(steady, findings, &place, sites);
	tfs_hits_finish(&usual);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	double ns, share;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const double turning = turning_ns(steady, call);

		if (turning > 0)
			tfs_hits_add(&hits, steady->calls[i], bytes_of(steady->timeline, call),
				without(steady, call, turning));
	}
	/* Layers that share a helper are one place. */
	tfs_hits_fold(&hits);
	ns = place_ns(steady, hits.items, hits.count);
	share = steady->busy_ns > 0 ? ns / steady->busy_ns : 0;
	if (!steady->run && share >= LEAST_SHARE)
		report_places(steady, findings, &hits, ns);
	if (graphs_ns(steady) >= LEAST_SHARE * steady->busy_ns && steady->busy_ns > 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"kernels in graphs that are named like cuDNN's changes of a layout take %s of the GPU's time; which calls they are of was not recorded",
			tfs_figure_share(graphs_ns(steady) / steady->busy_ns).text);
	else if (!hits.count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call or kernel of cuDNN was seen that changes a tensor's layout");
	else if (share >= LEAST_SHARE)
		tfs_verdict_set(out_verdict, findings, before,
			steady->run ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED,
			"changing layouts takes %s of the GPU's time%s",
			tfs_figure_share(share).text,
			steady->run ? "; no training steps were found"
				    : ", at no call site usually");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"changing layouts takes %s of the GPU's time",
			tfs_figure_share(share).text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs606 = {
	.id = "TFS606",
	.slug = "layout-churn",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE,
	.about = TFS_ABOUT_LAUNCHES,
	.title = "tensors copied from one layout into another",
	.why = "Tensor cores multiply what lies with its channels beside each other (NHWC). "
	       "Where tensors have their channels apart (NCHW), cuDNN turns them before such a kernel, and the result back after it; "
	       "each time all of the tensor is read and written, and nothing is computed.",
	.advice =
		"Let this tensor have one layout from where it is made to where it is used: "
		"describe activations and filters as CUDNN_TENSOR_NHWC in all layers, and convert the input once. "
		"In PyTorch: model.to(memory_format=torch.channels_last), and the input too.",
	.detect = detect,
};
