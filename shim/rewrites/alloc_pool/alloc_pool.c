/* SPDX-License-Identifier: MIT */
/*
 * alloc-pool: a block of device memory that is freed in every step is kept for the next call that
 * asks for as many bytes, so that the driver need neither unmap nor map it.
 *
 * Contract (exact: the same bits, in the same order):
 * - cudaFree waits for the device as before, before the block is kept: programs rely on that wait.
 * - The block is zeroed aside, and handed out only after the event recorded behind that: what the
 *   program left in it is gone, as it may be with memory from cudaMalloc.
 * - A block goes to a request of exactly its size, on its own device and context; it is a whole
 *   allocation of CUDA's, never a part of one. When the context ends, so do its blocks.
 * - It takes whole pages, as the device gives memory out, which is measured: smaller blocks share
 *   pages, and what they take cannot be told.
 * - To the program it is free memory: cudaMemGetInfo counts it as such, blocks are given back
 *   before an out-of-memory is reported, and before any call is given an address in one, so that
 *   a copy, a fill, a question or a second free fails as it would. Kernels, and the libraries'
 *   calls that launch them, cannot be covered: on freed memory they work where they might fault.
 * - At least 1 GiB, or a tenth of the device if that is more, stays truly free: libraries allocate
 *   for themselves, and nobody asks us when they find nothing. It is looked at when a block is
 *   kept, and again when the program takes memory; where too little is left all is given back. So
 *   it is before cuDNN's own searches, and before handles, communicators, graphs that are
 *   instantiated and code that is loaded, whatever those take.
 * - Giving back waits for the device. Where the program has host functions that the device may be
 *   waiting for, and the device is not idle, it is left undone, save for an out-of-memory.
 * - A block that nobody has asked for in two seconds is given back at the next free, or wait of the
 *   host: other processes may want it. What they take is seen there as well, ten times a second:
 *   where they leave less than that reserve, all is given back. A process that needs more, in one
 *   piece, while the reserve is there, does not get it; nor while this program neither frees nor
 *   waits.
 * - Only memory that the program itself got from cudaMalloc or cuMemAlloc. Managed and
 *   stream-ordered memory, and blocks shared with another process, device or network card, are left
 *   alone; so is everything while a stream is being captured, save that blocks are given back then
 *   too, in relaxed mode, where memory runs out.
 * - When it has lost, no rewrite holding blocks any more, they are given back after the program's
 *   next free, which has waited for the device.
 * - A hit leaves out what cudaMalloc itself may wait for; the option pool_strict puts that back.
 *
 * Its own model of the gain per hit: what the program's own cudaMalloc, and cudaFree on an idle
 * device, of that size took, less what keeping and handing out took.
 */
#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/capture.h"

#define TIMED 2u /* calls of the program's that are timed once a size recurs */

/* Mutants: what the contract forbids. */
#define NAIVE_NO_WAIT 256u /* cudaFree does not wait */

enum check {
	CHECK_WAITED = TFS_CHECK_device_waited_for,
	CHECK_KEPT = TFS_CHECK_block_kept,
};

extern const struct tfs_rewrite tfs_rewrite_alloc_pool;
#define SELF (&tfs_rewrite_alloc_pool)

static bool applies(void)
{
	return tfs_rewrite_mode(SELF) == TFS_MODE_APPLY;
}

/* The program's own call, timed. */
static bool time_alloc(const struct tfs_memory_functions *use, struct tfs_op *op)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	op->status = (uint32_t)use->alloc(&op->memory.address, op->memory.bytes);
	if (op->status == 0)
		tfs_pool_note_alloc_time(op, start_ns);
	return true;
}

static bool alloc(struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	const struct tfs_pool_size size = tfs_pool_note_alloc(op);

	if (!use || !applies() || !tfs_pool_recurs(&size) || tfs_capturing() ||
		use->error_waits() != 0)
		return false;
	if (size.alloc_timed < TIMED)
		return time_alloc(use, op);
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	if ((tfs_options.pool_strict != 0 && use->drain() != 0) ||
		!(op->memory.address = tfs_blocks_take(use, op)))
		return false;
	tfs_rewrite_acted(SELF, op->memory.bytes);
	op->status = 0;
	if (size.free_timed > 0)
		tfs_rewrite_predict_call(
			SELF, size.alloc_ns + size.free_ns - size.keep_ns -
				      (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns));
	return true;
}

static bool drain(const struct tfs_memory_functions *use)
{
	return TFS_MUTANT(NAIVE_NO_WAIT) || use->drain() == 0;
}

static bool keep(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	if (!tfs_blocks_put(use, op, tfs_options.pool_poison != 0 ? 0xff : 0, false))
		return false;
	tfs_pool_note_keep_time(op, start_ns);
	return true;
}

static bool release(struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	const struct tfs_pool_size size = tfs_pool_note_free(op);

	if (!tfs_pool_may_keep(SELF, use, op, &size) || !applies() ||
		!tfs_rewrite_check(SELF, CHECK_WAITED, drain(use), op->site))
		return false;
	if (size.free_timed < TIMED) {
		const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

		op->status = (uint32_t)use->release(op->memory.address);
		if (op->status == 0)
			tfs_pool_note_free_time(op, start_ns);
		return true;
	}
	op->status = 0;
	return tfs_rewrite_check(SELF, CHECK_KEPT, keep(use, op), op->site);
}

static enum tfs_answer before(struct tfs_op *op)
{
	const bool done = op->kind == TFS_OP_ALLOC ? alloc(op) : release(op);

	return done ? TFS_DONE : TFS_LEAVES;
}

static void pinned(const struct tfs_op *op)
{
	tfs_pool_refuse_pinned(SELF, op);
}

const struct tfs_rewrite tfs_rewrite_alloc_pool = {
	.name = "alloc-pool",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS401",
	.switchable = true,
	.start = tfs_pool_start,
	.priority = 70,
	.acts = TFS_OP_BIT(TFS_OP_ALLOC) | TFS_OP_BIT(TFS_OP_FREE) | TFS_OP_BIT(TFS_OP_PINNED),
	.before = before,
	.event = pinned,
};
