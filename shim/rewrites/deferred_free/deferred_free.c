/* SPDX-License-Identifier: MIT */
/*
 * deferred-free: a block of device memory that is freed in every step goes back to the program
 * without the wait for the device that cudaFree is. Only on when it is named.
 *
 * Contract (exact: the same bits): what alloc-pool promises of its blocks holds here too, and the
 * wait is left out only where nobody can tell:
 * - Order takes its place. The block is zeroed on the legacy stream, which waits for all earlier
 *   work on blocking streams, and for which all their later work waits. So there must be no stream
 *   that does neither: none was ever made with cudaStreamNonBlocking, none was destroyed (it may
 *   still be at work), no memory is on another device. When the first such stream is made, the
 *   device is waited for, once, before the program gets it.
 * - The host cannot see that work is unfinished: the program has no pinned, managed or registered
 *   memory that a kernel might write, and none that it might read; the device does not reach
 *   pageable memory; no event, query, host function, graph, collective or external semaphore was
 *   ever used. A single one, and cudaFree waits again.
 * - An error of the device shows at the program's next call that waits.
 * - At each call site and size it is first tried out beside the program's own call: the block is
 *   zeroed in order, then the device is waited for, and the block must still be zeros and no error
 *   have come up. After enough clean tries (evidence.h) the wait is left out; the first that is
 *   not clean switches the rewrite off.
 *
 * Its own model of the gain per hit: the least time that the device was waited for while it was
 * tried out, but no more than the host is then at something else until it next waits.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/record/hook.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/common/left_wait.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"

/* Mutants: what the contract forbids. */
#define NAIVE_HOST_BLIND (1u << 16) /* does not care what the host may see */
#define NAIVE_ANY_STREAM (1u << 17) /* nor which streams there are */
#define NAIVE_SPOILED (1u << 18)    /* the block is not zeros when it was tried out */

enum check {
	CHECK_HOST = TFS_CHECK_no_host_visible_memory,
	CHECK_PAGEABLE = TFS_CHECK_no_pageable_access,
	CHECK_SIGNALS = TFS_CHECK_no_host_signals,
	CHECK_STREAMS = TFS_CHECK_no_free_streams,
	CHECK_DEVICES = TFS_CHECK_one_device,
	CHECK_EVIDENCE = TFS_CHECK_shadow_evidence,
	CHECK_KEPT = TFS_CHECK_block_kept,
};

extern const struct tfs_rewrite tfs_rewrite_deferred_free;
#define SELF (&tfs_rewrite_deferred_free)

static struct tfs_evidence tried; /* frees, by size */
static struct tfs_left_wait left;
static _Atomic bool unsettled; /* a wait was left out since the device was last waited for */

static bool signals_seen(void)
{
	static const uint64_t families =
		UINT64_C(1) << TFS_FAMILY_host_func | UINT64_C(1) << TFS_FAMILY_graph_launch |
		UINT64_C(1) << TFS_FAMILY_collective | UINT64_C(1) << TFS_FAMILY_event_record |
		UINT64_C(1) << TFS_FAMILY_query;

	return (tfs_hook_families() & families) != 0 || tfs_memory_signals();
}

static bool streams_in_order(void)
{
	return !tfs_streams_free() &&
	       (tfs_hook_families() & UINT64_C(1) << TFS_FAMILY_stream_destroy) == 0;
}

static bool may_defer(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	const uint32_t site = op->site;
	const bool blind = TFS_MUTANT(NAIVE_HOST_BLIND);

	return tfs_rewrite_check(SELF, CHECK_HOST, blind || !tfs_memory_any_visible(), site) &&
	       tfs_rewrite_check(SELF, CHECK_PAGEABLE,
		       !tfs_memory_reaches_pageable(use, (int)op->memory.device), site) &&
	       tfs_rewrite_check(SELF, CHECK_SIGNALS, blind || !signals_seen(), site) &&
	       tfs_rewrite_check(SELF, CHECK_STREAMS,
		       TFS_MUTANT(NAIVE_ANY_STREAM) || streams_in_order(), site) &&
	       tfs_rewrite_check(
		       SELF, CHECK_DEVICES, !tfs_memory_any_elsewhere(op->memory.device), site);
}

static bool is_zero(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	static const char zeros[4096];
	char piece[4096];
	const uint64_t count = op->memory.bytes < sizeof(piece) ? op->memory.bytes : sizeof(piece);
	const uint64_t starts[] = {0, (op->memory.bytes - count) / 2, op->memory.bytes - count};

	for (int i = 0; i < 3; i++)
		if (use->read(piece, (char *)op->memory.address + starts[i], count,
			    TFS_MEMORY_READ) != 0 ||
			memcmp(piece, zeros, count) != 0)
			return false;
	return true;
}

/* In order, then the wait, as the program knows it: has the order been enough? The program's own
 * free follows. */
static void try_out(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	if (use->fill(op->memory.address, 0, op->memory.bytes, TFS_STREAM_IN_ORDER) != 0) {
		use->forget_error();
		return;
	}
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const int status = use->drain();
	tfs_left_wait_learn(&left, tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);
	if (status == 0 && TFS_MUTANT(NAIVE_SPOILED))
		use->fill(op->memory.address, 1, op->memory.bytes, TFS_STREAM_IN_ORDER);
	if (status == 0 && is_zero(use, op)) {
		tfs_evidence_clean(&tried, op->site, op->memory.bytes);
		return;
	}
	const struct tfs_reason evidence = {.code = status != 0 ? TFS_REASON_free_reported_error
								: TFS_REASON_written_after_free,
		.numbers = {op->memory.bytes}};
	tfs_rewrite_differs(SELF, op->site, &evidence);
}

static bool release(struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	const struct tfs_pool_size size = tfs_pool_note_free(op);
	const enum tfs_rewrite_mode mode = tfs_rewrite_mode(SELF);

	tfs_left_wait_end(&left, SELF);
	/* Before the look at the streams: whoever makes one meanwhile finds it, or is found. */
	atomic_store(&unsettled, true);
	if (!tfs_pool_may_keep(SELF, use, op, &size) || !may_defer(use, op) ||
		mode == TFS_MODE_REPORT)
		return false;
	if (mode == TFS_MODE_SHADOW) {
		if (tfs_rewrite_shadow(SELF, op->memory.bytes))
			try_out(use, op);
		return false;
	}
	if (!tfs_rewrite_check(SELF, CHECK_EVIDENCE,
		    tfs_evidence_enough(&tried, op->site, op->memory.bytes), op->site)) {
		try_out(use, op);
		return false;
	}
	op->status = 0;
	if (!tfs_rewrite_check(SELF, CHECK_KEPT,
		    tfs_blocks_put(use, op, tfs_options.pool_poison != 0 ? 0xff : 0, true),
		    op->site))
		return false;
	tfs_left_wait_begin(&left);
	return true;
}

static bool alloc(struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	const struct tfs_pool_size size = tfs_pool_note_alloc(op);

	if (!use || tfs_rewrite_mode(SELF) != TFS_MODE_APPLY || !tfs_pool_recurs(&size) ||
		tfs_capturing() || use->error_waits() != 0 || tfs_options.pool_strict != 0 ||
		!(op->memory.address = tfs_blocks_take(use, op)))
		return false;
	tfs_rewrite_acted(SELF, op->memory.bytes);
	op->status = 0;
	return true;
}

static void wait_or_copy(const struct tfs_op *op)
{
	const int saved = errno;
	/* Beside this rewrite no host memory is pinned: its copies wait. */
	const bool waits = op->kind == TFS_OP_COPY ? op->copy.kind != cudaMemcpyDeviceToDevice
						   : op->wait.what <= TFS_SYNC_EVENT &&
							     tfs_rewrite_mode(SELF) != TFS_MODE_OFF;

	if (waits)
		tfs_left_wait_end(&left, SELF);
	errno = saved;
}

static enum tfs_answer before(struct tfs_op *op)
{
	if (op->kind == TFS_OP_ALLOC)
		return alloc(op) ? TFS_DONE : TFS_LEAVES;
	if (op->kind == TFS_OP_FREE)
		return release(op) ? TFS_DONE : TFS_LEAVES;
	wait_or_copy(op);
	return TFS_LEAVES;
}

/* The program makes a stream that order does not bind. */
static void stream_created(void)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);

	if (!use)
		use = tfs_memory_functions(true);
	if (use && !TFS_MUTANT(NAIVE_ANY_STREAM) && atomic_exchange(&unsettled, false) &&
		use->drain() != 0)
		use->forget_error();
}

static void told(const struct tfs_op *op)
{
	if (op->kind == TFS_OP_STREAM) {
		stream_created();
		return;
	}
	tfs_left_wait_end(&left, SELF);
	tfs_pool_refuse_pinned(SELF, op);
}

const struct tfs_rewrite tfs_rewrite_deferred_free = {
	.name = "deferred-free",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS202",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.start = tfs_pool_start,
	.priority = 20,
	.acts = TFS_OP_BIT(TFS_OP_COPY) | TFS_OP_BIT(TFS_OP_ALLOC) | TFS_OP_BIT(TFS_OP_FREE) |
		TFS_OP_BIT(TFS_OP_PINNED),
	.follows = TFS_OP_BIT(TFS_OP_WAIT) | TFS_OP_BIT(TFS_OP_STREAM),
	.before = before,
	.event = told,
};
