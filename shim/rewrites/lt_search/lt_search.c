/* SPDX-License-Identifier: MIT */
/*
 * lt-search: measures whether a product that the program computes by cublasLtMatmul would be faster
 * by another answer of cuBLASLt's heuristic, or with a larger workspace.
 *
 * Contract (exact: nothing is changed):
 * - The program's call is made as the program makes it, whatever was measured. What was measured is
 *   written to the recording, for the report.
 * - Measured is on memory of ours, on a stream of ours, by a copy of the product's descriptor; of
 *   the program's matrices and workspace nothing is read or written, and its descriptors are only
 *   read. alpha and beta are read by cuBLASLt, as in the program's own call; where they lie on the
 *   device nothing is measured. The handle is the program's: it has no stream and no workspace, and
 *   any number of threads may use it at once.
 * - Nothing is measured while a stream is captured, while the program's work on the device goes on,
 *   while another thread measures or searches, in a recorded window, or when the device would be
 *   left with too little memory: then the product is tried again at a later call, ever more seldom.
 *   Whether work goes on is asked for a ten-thousandth of the searches' time, each time, and no
 *   stream of the program's is waited for otherwise.
 * - When other work has come to the device by the end, nothing is said.
 * - A product is measured once for each device, within the time, memory, workspace and number that
 *   the options for searches allow. All memory goes back at once. What stays is what cuBLASLt
 * itself keeps: loaded kernels, and answers in its cache.
 */
#include <stdatomic.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/lt_search/lt_copy.h"
#include "shim/rewrites/lt_search/lt_known.h"
#include "shim/rewrites/lt_search/lt_measure.h"
#include "shim/rewrites/lt_search/lt_scratch.h"
#include "shim/rewrites/rewrite.h"
#include "shim/steps/windows.h"

extern const struct tfs_rewrite tfs_rewrite_lt_search;

#define SELF (&tfs_rewrite_lt_search)

/* Telling a product from others takes half a microsecond: once so many calls have brought nothing
 * to do, only every so many are looked at. */
#define QUIET 1024u
#define SELDOM 61u /* prime: steps of so many calls are rare */

static _Atomic bool met;
static _Atomic uint32_t quiet; /* calls, since there was something to do */
static _Atomic uint32_t measured;
static _Atomic uint64_t spent_ns;

static bool check(uint32_t check, bool holds, uint32_t site)
{
	return tfs_rewrite_check(SELF, check, holds, site);
}

static void write(const struct tfs_product_call *call, const struct tfs_lt_measured *found)
{
	const struct tfs_product_record record = {
		.tried = found->tried,
		.flags = (found->clear ? 1u : 0) | (found->first ? 2u : 0),
		.question = call->question,
		.own_ms = found->own.median_ms,
		.own_spread_ms = found->own.spread_ms,
		.own_workspace = found->own.workspace,
		.best_ms = found->best.median_ms,
		.best_spread_ms = found->best.spread_ms,
		.best_workspace = found->best.workspace,
		.most_workspace = found->most_workspace,
	};

	tfs_recorder_put(&record, TFS_RECORD_product, sizeof(record));
	measured++;
}

static uint64_t budget_ns(void)
{
	return tfs_options.search_ms * UINT64_C(1000000);
}

/* The device is taken. True: there is no more to be found out about this product. */
static bool measure(
	struct tfs_search_device *device, const struct tfs_product_call *call, uint32_t site)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	struct tfs_lt_measured found;

	const enum tfs_lt_result result =
		tfs_lt_idle(device, call)
			? tfs_lt_measure(device, call, start_ns + budget_ns() - spent_ns, &found)
			: TFS_LT_BUSY;

	spent_ns += tfs_clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (!check(TFS_CHECK_device_memory, result != TFS_LT_NO_MEMORY, site) ||
		!check(TFS_CHECK_streams_idle, result != TFS_LT_BUSY, site))
		return false;
	if (check(TFS_CHECK_time_budget, result != TFS_LT_NO_TIME, site) &&
		check(TFS_CHECK_measuring_works, result != TFS_LT_FAILED, site))
		write(call, &found);
	return true;
}

/* What is the case now may be another later. */
static bool may_now(const struct tfs_product_call *call, uint32_t site)
{
	return check(TFS_CHECK_not_capturing, !tfs_search_capturing((CUstream)call->stream),
		       site) &&
	       check(TFS_CHECK_not_in_window, !tfs_windows_open(), site);
}

static bool may_ever(const struct tfs_product_call *call, uint32_t site)
{
	return check(TFS_CHECK_plain_product,
		       tfs_lt_copy_possible(call) && tfs_lt_scratch_possible(call), site) &&
	       check(TFS_CHECK_product_budget, measured < tfs_options.search_problems, site) &&
	       check(TFS_CHECK_time_budget, spent_ns < budget_ns(), site);
}

/* True: the product is done with. */
static bool meet(const struct tfs_product_call *call, uint32_t site)
{
	struct tfs_search_device *device = tfs_search_device();

	/* The driver, or the library, may not be known to stay yet. */
	if (!check(TFS_CHECK_measuring_works, device && tfs_lt_measurable(), site))
		return false;
	if (!may_ever(call, site))
		return true;
	if (!may_now(call, site))
		return false;
	tfs_search_device_make();
	if (!check(TFS_CHECK_measuring_works, tfs_search_device_made(device), site))
		return true;
	if (!check(TFS_CHECK_one_search_at_a_time, tfs_search_device_take(device), site))
		return false;
	const bool done = measure(device, call, site);
	tfs_search_device_leave(device);
	return done;
}

static enum tfs_answer before(struct tfs_op *op)
{
	const uint32_t calls = atomic_fetch_add_explicit(&quiet, 1, memory_order_relaxed);

	if (calls > QUIET && calls % SELDOM != 0)
		return TFS_LEAVES;
	const uint64_t question = tfs_product_question(op->product);
	struct tfs_lt_known *known = question ? tfs_lt_known_due(question) : NULL;

	if (!known)
		return TFS_LEAVES;
	atomic_store_explicit(&quiet, 0, memory_order_relaxed);
	if (!atomic_exchange(&met, true))
		tfs_rewrite_explain(SELF, TFS_REASON_only_measures, NULL);
	/* In report mode all that is done is what is done in any other. */
	if (tfs_rewrite_mode(SELF) == TFS_MODE_REPORT || tfs_rewrite_may_act(SELF)) {
		if (meet(op->product, op->site))
			tfs_lt_known_settle(known);
	}
	return TFS_LEAVES;
}

/* A reset: the equipment is gone. */
static void event(const struct tfs_op *op)
{
	tfs_search_device_forget(op->device);
}

static void finish(void)
{
	if (!atomic_load(&met))
		return;
	tfs_recorder_fact(TFS_FACT_products_measured, NULL, measured, 0);
	tfs_recorder_fact(TFS_FACT_products_time, NULL, spent_ns, 0);
}

const struct tfs_rewrite tfs_rewrite_lt_search = {
	.name = "lt-search",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS610",
	.priority = 10,
	.acts = TFS_OP_BIT(TFS_OP_PRODUCT),
	.follows = TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.event = event,
	.finish = finish,
};
