/* SPDX-License-Identifier: MIT */
/*
 * cudnn-search: a convolution whose algorithm the program fixed, or took from cuDNN's heuristics,
 * runs with the fastest one that a measured search finds within the fences below.
 *
 * Contract (rounding: the same mathematics, sums in another order):
 * - Decided once per problem, before its first execution: where the program asks cuDNN for a list,
 *   the choice is moved to the list's head; else at the first call, with a workspace of ours.
 *   Never changed during a run.
 * - Written to a file before it is used; that a problem is left as asked, for whatever reason, is
 *   written before it is tried. Where nothing can be written nothing is searched. A run that finds
 *   the file replays it, whatever else is the case then, and searches nothing; so all later runs
 *   compute the bits of the one that decided. Of several at once one decides (decisions.h).
 * - A thread that needs a problem while another one decides it runs as the program asked, and waits
 *   for nothing; that problem is then left alone for good. One search at a time per device.
 * - A workspace is one call's, in the order of its stream, or one capture's, for as long as a graph
 *   that was made of it is there; to the program that is used memory. What is first met during a
 *   capture is left alone. A call for whose workspace the device has no memory left runs as asked
 *   and is counted as refused, and so are all later ones that need a workspace: nothing else
 *   changes bits in the middle of a run, and it cannot be helped, since the memory is the
 *   program's, or another's.
 * - What cuDNN would refuse as asked, for want of workspace or because there is no such algorithm,
 *   it refuses; such a call decides nothing. The head of a list is replaced by what needs no more
 *   workspace than the head.
 * - The candidate has the descriptor's own math type; it is deterministic if the program's is, by
 *   cuDNN's flag and by its documentation; it is neither FFT nor Winograd unless the program's is.
 * - Before it is chosen it has computed the same as the program's own, up to rounding, from the
 *   same numbers, and has written nothing behind its output and workspace. Where it takes the place
 *   of a fixed one, at its first execution and at one in LIVE_EVERY after that, the program's own
 *   runs beside it on the program's numbers; when they differ by more than rounding, the rewrite is
 *   off for the rest of the run. In shadow the program's own result stands, and the chosen one runs
 *   beside it.
 * - The search works on a handle, a stream and scratch tensors of its own; it waits for none of the
 *   program's streams, and gives back what it takes. It stays within the options' time, number of
 *   problems, memory and workspace, and leaves the device a margin.
 * - What it still holds after a search is to the program free memory, and goes back when that is
 *   short: of a run beside another results and a workspace, until it is over and the program takes
 *   memory or asks for it, and its handle, until the next look at the memory or, if the device is
 *   idle then, the first host function or graph; after that it keeps none. What the device still
 *   works with while it waits for the program cannot go back, since that waits for the device: an
 *   allocation may then fail that would have fitted.
 * - Not while the program's work on the device goes on, which would spoil the times: what is left
 * of the patience that all rewrites have together, see patience.h, is what it waits for that.
 * - Not during capture, not when the program searches itself, not when a variable asks for
 *   determinism, not with several ranks unless the decisions are there already.
 * - A list that the program asked for is reordered, never shortened. A program that measures gets
 *   its own list, the decision at its head: the file's, else what it found first. The same question
 *   again gets the same answer, after the wait that measuring would have been, if its memory is
 *   still there.
 * - Convolutions of cuDNN's graph API (cudnnBackend...) are not supported. What they may be
 *   replaced by would have to be told from numerical notes, which the API has of an engine only
 *   (CUDNN_ATTR_ENGINE_NUMERICAL_NOTE), while a plan is made of a configuration: an engine and its
 *   knobs, among them SPLIT_K_SLC, REDUCTION_MODE and STREAM_K. So neither the math nor the
 *   determinism of the program's own plan is known, and none could be held to it.
 */
#include <stdatomic.h>
#include <string.h>

#include "shim/base/mutant.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/cudnn_search/cudnn_search.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_live.h"
#include "shim/rewrites/cudnn_search/search_workspace.h"
#include "shim/rewrites/search/search_held.h"
#include "shim/state/streams.h"
#include "shim/steps/steps.h"

#define NAIVE_AFTER 3u    /* executions */
#define LIVE_EVERY 10000u /* executions of a problem */

#define SELF (&tfs_rewrite_cudnn_search)

bool tfs_search_check(enum tfs_search_check check, bool holds, uint32_t site)
{
	return tfs_rewrite_check(SELF, check, holds, site);
}

static bool start(void)
{
	static const struct tfs_search_holder holder = {
		.lent = tfs_workspace_lent,
		.handle_bytes = tfs_search_handle_bytes,
		.handle_end = tfs_search_handle_end,
		.settle = tfs_live_settle,
		.drop = tfs_live_drop,
	};

	tfs_search_hold(&holder);
	tfs_decisions_start();
	return true;
}

/* A mutant. */
static bool is_early(void)
{
	static _Atomic uint32_t met;

	return met++ < NAIVE_AFTER;
}

/* What cuDNN refuses as asked it shall refuse: it may not even count as an execution. */
static bool is_given_enough(const struct tfs_convolution_call *call, uint64_t needed)
{
	return tfs_search_check(TFS_SEARCH_ENOUGH,
		needed == 0 || (call->workspace && needed <= call->workspace_bytes), call->site);
}

static bool is_complete(const struct tfs_convolution_call *call)
{
	return call->handle && call->alpha && call->beta && call->x && call->w && call->y;
}

static struct tfs_known *meet(struct tfs_convolution_call *call, const struct tfs_search *what,
	const struct tfs_problem *problem, struct tfs_search_device **out_device)
{
	uint64_t needed;

	*out_device = tfs_search_cudnn_device();
	if (*out_device && !tfs_known_find(tfs_search_machine(*out_device), problem) &&
		(!tfs_search_need(what, call->algorithm, &needed) ||
			!is_given_enough(call, needed))) {
		call->not_met = true;
		return NULL;
	}
	return tfs_search_meet(what, problem, call->algorithm, call->site, false, out_device);
}

/* The problem of the call, NULL when it is to be left as it is. */
static struct tfs_known *known_of(
	struct tfs_convolution_call *call, struct tfs_search_device **out_device)
{
	struct tfs_problem problem;

	if (!is_complete(call) ||
		!tfs_search_check(TFS_SEARCH_PROBLEM,
			tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
				call->convolution, call->y_descriptor, &problem),
			call->site))
		return NULL;
	const struct tfs_search what = {
		.family = call->family,
		.handle = call->handle,
		.x = call->x_descriptor,
		.w = call->w_descriptor,
		.y = call->y_descriptor,
		.convolution = call->convolution,
		.math = (cudnnMathType_t)problem.fields[TFS_PROBLEM_math],
		.most = UINT64_MAX,
		.live_x = (void *)call->x,
		.live_w = (void *)call->w,
		.live_y = (void *)call->y,
	};
	struct tfs_known *known = meet(call, &what, &problem, out_device);
	if (!known || !known->decision || known->in_list)
		return NULL;
	if (TFS_MUTANT(TFS_SEARCH_NAIVE_SWITCH) && !known->decision->replayed && is_early())
		return NULL;
	if (!tfs_search_check(
		    TFS_SEARCH_ASKED, known->decision->asked == call->algorithm, call->site) ||
		known->decision->chosen == call->algorithm ||
		!is_given_enough(call, known->decision->asked_workspace))
		return NULL;
	return known;
}

/* What was run beside an earlier call. */
static bool still_the_same(void)
{
	struct tfs_reason evidence;
	const struct tfs_known *known = NULL;
	uint32_t site = 0;

	if (tfs_live_holds(&known, &site, &evidence))
		return true;
	tfs_rewrite_differs(SELF, site, &evidence);
	tfs_search_regret(known);
	return false;
}

static bool get_workspace(struct tfs_search_device *device, struct tfs_convolution_call *call,
	uint64_t capture, uint64_t bytes)
{
	if (bytes == 0 || (call->workspace && bytes <= call->workspace_bytes))
		return true;
	call->lent =
		tfs_workspace_get(device, (CUstream)tfs_cudnn_stream(call->handle), capture, bytes);
	call->lent_for_good = capture != 0;
	return call->lent != NULL;
}

static void convolution(struct tfs_convolution_call *call)
{
	struct tfs_search_device *device = NULL;
	struct tfs_known *known = known_of(call, &device);
	uint64_t capture;

	if (!known || !still_the_same() ||
		!tfs_search_check(TFS_SEARCH_CAPTURE,
			tfs_search_captured((CUstream)tfs_cudnn_stream(call->handle), &capture),
			call->site))
		return;
	const struct tfs_decision *decision = known->decision;
	if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW) {
		if (capture == 0 && tfs_rewrite_shadow(SELF, 0))
			tfs_live_begin(device, call, known, decision->chosen, decision->workspace);
		return;
	}
	if (tfs_rewrite_mode(SELF) != TFS_MODE_APPLY ||
		!tfs_search_check(TFS_SEARCH_WORKSPACE,
			get_workspace(device, call, capture, decision->workspace), call->site) ||
		!tfs_rewrite_apply(SELF, 0))
		return;
	const uint64_t executed = known->executed++;
	call->algorithm = decision->chosen;
	if (call->lent) {
		call->workspace = call->lent;
		call->workspace_bytes = decision->workspace;
	}
	if (capture == 0 && executed % LIVE_EVERY == 0)
		tfs_live_begin(device, call, known, decision->asked, call->asked_bytes);
}

/* Did cuDNN refuse what was chosen? Decisions come from a file, and an algorithm may ask more of
 * the pointers than descriptors tell. Nothing has run then: the call is the program's again. */
static bool taken_back(struct tfs_convolution_call *call, uint32_t status)
{
	static _Atomic bool told;

	if (status == CUDNN_STATUS_SUCCESS || call->algorithm == call->asked_algorithm)
		return false;
	if (!atomic_exchange(&told, true))
		tfs_recorder_fact(TFS_FACT_search_refused, NULL, status, 0);
	call->algorithm = call->asked_algorithm;
	call->workspace = call->asked_workspace;
	call->workspace_bytes = call->asked_bytes;
	return true;
}

static void convolved(struct tfs_convolution_call *call, uint32_t status)
{
	tfs_live_end(call, status == CUDNN_STATUS_SUCCESS);
	if (call->lent && !call->lent_for_good)
		tfs_workspace_give_back(call->lent, (CUstream)tfs_cudnn_stream(call->handle));
	if (call->not_met && status == CUDNN_STATUS_SUCCESS)
		tfs_search_leave(call);
}

static enum tfs_answer before(struct tfs_op *op)
{
	struct tfs_convolution_call *call = op->compute.convolution;

	if (op->kind == TFS_OP_CHOICE)
		return tfs_search_answer(op) ? TFS_DONE : TFS_MINDS;
	call->site = op->site;
	convolution(call);
	return call->algorithm != call->asked_algorithm || call->aside || call->lent ||
			       call->not_met
		       ? TFS_MINDS
		       : TFS_LEAVES;
}

static bool after(struct tfs_op *op)
{
	if (op->kind == TFS_OP_CHOICE)
		tfs_search_choice(op);
	else if (taken_back(op->compute.convolution, op->status))
		return true;
	else
		convolved(op->compute.convolution, op->status);
	return false;
}

static void event(const struct tfs_op *op)
{
	switch (op->kind) {
	case TFS_OP_HANDLE:
		if (tfs_search_cudnn_device())
			tfs_search_device_make();
		break;
	case TFS_OP_BACKEND:
		tfs_search_check(TFS_SEARCH_BACKEND, false, op->site);
		tfs_rewrite_explain(SELF, TFS_REASON_graph_api, NULL);
		break;
	default: /* a reset */
		tfs_workspace_forget(op->device);
		tfs_live_forget(op->device);
		tfs_search_handle_forget(op->device);
		tfs_search_device_forget(op->device);
	}
}

static void finish(void)
{
	const uint64_t steps = tfs_steps_count();
	double gain_ns = 0;

	for (uint32_t i = 0; i < tfs_known_count(); i++) {
		const struct tfs_known *known = tfs_known_at(i);

		if (known->executed > 0)
			gain_ns += (double)known->executed * 1e6 *
				   (double)(known->decision->asked_ms - known->decision->chosen_ms);
	}
	if (steps > 0)
		tfs_rewrite_predict(SELF, gain_ns / (double)steps);
	tfs_search_write();
}

const struct tfs_rewrite tfs_rewrite_cudnn_search = {
	.name = "cudnn-search",
	.class = TFS_CLASS_ROUNDING,
	.rules = "TFS601",
	.fetch = tfs_decisions_fetch,
	.start = start,
	.compares = true,
	.priority = 10,
	.acts = TFS_OP_BIT(TFS_OP_CONVOLVE) | TFS_OP_BIT(TFS_OP_CHOICE) |
		TFS_OP_BIT(TFS_OP_HANDLE) | TFS_OP_BIT(TFS_OP_BACKEND),
	.follows = TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.after = after,
	.event = event,
	.finish = finish,
};
