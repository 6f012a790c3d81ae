/* SPDX-License-Identifier: MIT */
/*
 * pinned-staging: a copy between pageable host memory and the device goes through a ring of pinned
 * chunks, so that several threads copy to or from the ring while transfers run, and where the call
 * does not wait the host may go on while the last transfers to the device still do.
 *
 * Contract (exact: the same bytes, in the same order, on the caller's stream):
 * - Of a copy to the device the call returns only after the last byte has left the caller's memory,
 *   blocking or not: programs reuse or free a pageable source at once.
 * - A blocking one first waits for its stream, and returns only when the last byte has arrived: who
 *   else may read it then is not known.
 * - One that need not block never waits. It takes chunks that are free; what is left is copied by
 *   the program's own call, behind them on the same stream.
 * - A copy to the host returns only when the last byte has arrived. Those that need not block are
 *   left alone: programs count on pageable ones having waited, or not, as the driver sees fit.
 * - Transfers are made on the caller's stream; nothing is moved to another one.
 * - A chunk is used again only after the event recorded behind its last transfer, and never waits
 *   for another copy than the one that needs it.
 * - Nothing here touches the program's memory (pinned_staging_pieces.h). From where that could not
 *   be copied on, the program's own call does it, with nothing of ours held: a fault is its own,
 *   and its handler may leave the call.
 * - Anything that is not a plain copy between unregistered memory and this context's own device
 *   memory is left alone, and so is every copy while a stream is being captured.
 * - Never more pinned memory than the option staging_limit allows, over all devices; a ring has 8
 *   chunks of 2 MiB or what is left. A context has one, and others for threads that copy at the
 *   same time, up to half of the limit.
 * - On the driver's functions the same, where the program calls them itself or has a CUDA runtime
 *   of its own; a copy is carried out once, on the layer that it came in on.
 *
 * Its own model of a copy's gain: bytes over the pageable rate, less the longer of the host's share
 * and bytes over the pinned rate. The rates are those of the program's own copies, a few of which
 * go the pageable way for it; until then what is usual. A direction and size that was no faster is
 * left alone from then on. Below 1 MiB there is nothing to be gained: what the calls of a staged
 * copy cost is as much as the faster transfer saves.
 */
#include <driver_types.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/pinned_staging/pinned_staging_limits.h"
#include "shim/rewrites/pinned_staging/pinned_staging_move.h"
#include "shim/rewrites/pinned_staging/pinned_staging_shadow.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/trace/format/format.h"

enum check {
	CHECK_DIRECTION = TFS_CHECK_host_and_device,
	CHECK_SIZE = TFS_CHECK_size,
	CHECK_BLOCKING = TFS_CHECK_blocking_read,
	CHECK_CAPTURE = TFS_CHECK_not_capturing,
	CHECK_LIBRARY = TFS_CHECK_usable_library,
	CHECK_CONTEXT = TFS_CHECK_context,
	CHECK_SOURCE_HOST = TFS_CHECK_source_pageable,
	CHECK_TARGET_HOST = TFS_CHECK_target_pageable,
	CHECK_SOURCE_DEVICE = TFS_CHECK_source_device_memory,
	CHECK_TARGET_DEVICE = TFS_CHECK_target_device_memory,
	CHECK_HOST_TABLES = TFS_CHECK_no_host_page_tables,
	CHECK_SOURCE_MAPPED = TFS_CHECK_source_mapped,
	CHECK_TARGET_MAPPED = TFS_CHECK_target_mapped,
	CHECK_CORES = TFS_CHECK_idle_cores,
	CHECK_FASTER = TFS_CHECK_faster,
	CHECK_BUSY = TFS_CHECK_ring_free,
	CHECK_PINNED = TFS_CHECK_pinned_memory,
	CHECK_ROOM = TFS_CHECK_memory_to_spare,
	CHECK_STREAM = TFS_CHECK_own_stream,
	CHECK_CALLS = TFS_CHECK_copy_calls,
	CHECK_FAULT = TFS_CHECK_no_fault,
};

extern const struct tfs_rewrite tfs_rewrite_pinned_staging;
#define SELF (&tfs_rewrite_pinned_staging)

/* What is known about a call once its checks hold. */
struct accepted {
	const struct tfs_staging_device *device;
	struct tfs_staging_context context;
	struct tfs_staging_job job;
};

/* Whether the program got it from CUDA, as far as this thread knows without asking CUDA. */
static bool is_listed(const void *address)
{
	return tfs_memory_ask(tfs_self.owned->addresses, (uint64_t)(uintptr_t)address)->left != 0;
}

static bool is_own_memory(const struct accepted *it, const void *address, size_t bytes)
{
	struct tfs_range range;

	return tfs_memory_find((uint64_t)(uintptr_t)address, &range) &&
	       range.kind == TFS_MEMORY_DEVICE && (range.flags & TFS_RANGE_ORDERED) == 0 &&
	       (uint64_t)(uintptr_t)address + bytes <= range.address + range.bytes &&
	       tfs_staging_place(it->device, &it->context, address) == TFS_PLACE_OWN_DEVICE;
}

/* On coherent systems the device reads pageable memory itself, and as fast. */
static bool reads_host_tables(const struct accepted *it)
{
	int value = 0;

	return it->device->attribute(&value, cudaDevAttrPageableMemoryAccessUsesHostPageTables,
		       it->context.device) != 0 ||
	       value != 0;
}

static bool has_cores(size_t bytes)
{
	return bytes < TFS_STAGING_MANY || tfs_options.staging_cores == 0 ||
	       tfs_staging_processors() >= tfs_options.staging_cores;
}

/* Captures that were begun out of our sight. The legacy stream cannot be captured. */
static bool captures(const struct accepted *it)
{
	int status = 0;

	return it->job.stream != (void *)cudaStreamLegacy &&
	       (it->device->is_capturing(it->job.stream, &status) != 0 || status != 0);
}

static bool is_plain(const struct tfs_op *op, bool *out)
{
	struct tfs_range range;

	*out = op->copy.kind == cudaMemcpyDeviceToHost ||
	       (op->copy.kind == cudaMemcpyDefault &&
		       tfs_memory_find((uint64_t)(uintptr_t)op->copy.source, &range));
	return op->copy.kind == cudaMemcpyHostToDevice || *out ||
	       op->copy.kind == cudaMemcpyDefault;
}

/* What can be said without asking CUDA. */
static bool may_be(const struct tfs_op *op, struct accepted *it)
{
	const uint32_t site = op->site;
	bool *out = &it->job.out;

	if (!tfs_rewrite_check(SELF, CHECK_DIRECTION, is_plain(op, out), site))
		return false;
	/* The driver's own way is good enough for what is small. */
	const uint64_t least = *out && tfs_options.staging_min_bytes < TFS_STAGING_MANY
				       ? TFS_STAGING_MANY
				       : tfs_options.staging_min_bytes;
	return tfs_rewrite_check(SELF, CHECK_SIZE, op->copy.bytes >= least, site) &&
	       tfs_rewrite_check(SELF, CHECK_BLOCKING, !*out || !op->copy.async, site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE,
		       !tfs_capturing() || TFS_MUTANT(TFS_STAGING_NAIVE_CAPTURE), site);
}

static const void *host_of(const struct accepted *it)
{
	return it->job.out ? it->job.op->copy.target : it->job.op->copy.source;
}

static enum check host_check(const struct accepted *it)
{
	return it->job.out ? CHECK_TARGET_HOST : CHECK_SOURCE_HOST;
}

/* Both ends of the copy. */
static bool has_places(const struct tfs_op *op, const struct accepted *it)
{
	const bool out = it->job.out;
	const uint32_t site = op->site;
	const void *host = host_of(it);
	const void *device = out ? op->copy.source : op->copy.target;

	return tfs_rewrite_check(SELF, host_check(it),
		       tfs_staging_is_pageable(it->device, &it->context, host, op->copy.bytes),
		       site) &&
	       tfs_rewrite_check(SELF, out ? CHECK_SOURCE_DEVICE : CHECK_TARGET_DEVICE,
		       is_own_memory(it, device, op->copy.bytes), site) &&
	       tfs_rewrite_check(SELF, CHECK_HOST_TABLES, !reads_host_tables(it), site) &&
	       tfs_rewrite_check(SELF, out ? CHECK_TARGET_MAPPED : CHECK_SOURCE_MAPPED,
		       tfs_staging_is_mapped(host, op->copy.bytes), site);
}

/* What most calls fail: no function of CUDA's, no system call, and no clock is needed for it. */
static inline bool is_candidate(const struct tfs_op *op, struct accepted *it)
{
	const uint32_t site = op->site;

	it->job.op = op;
	if (!may_be(op, it))
		return false;
	it->device = tfs_staging_device_of(op);
	return tfs_rewrite_check(SELF, CHECK_LIBRARY, it->device != NULL, site) &&
	       tfs_rewrite_check(SELF, host_check(it), !is_listed(host_of(it)), site) &&
	       tfs_rewrite_check(SELF, CHECK_FASTER, tfs_staging_is_faster(&it->job), site);
}

/* All but the checks that need the ring. */
static bool all_hold(const struct tfs_op *op, struct accepted *it)
{
	const uint32_t site = op->site;

	it->job.begun_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	it->job.stream = tfs_staging_stream(op);
	return tfs_rewrite_check(
		       SELF, CHECK_CONTEXT, tfs_staging_context(it->device, &it->context), site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE, !captures(it), site) && has_places(op, it) &&
	       tfs_rewrite_check(SELF, CHECK_CALLS, tfs_staging_pieces_can(), site) &&
	       tfs_rewrite_check(SELF, CHECK_CORES, has_cores(op->copy.bytes), site);
}

static struct tfs_staging_ring *take_ring(const struct accepted *it)
{
	struct tfs_staging_ring *ring = NULL;
	const uint32_t site = it->job.op->site;
	const enum tfs_staging_ring_answer answer =
		tfs_staging_ring_take(it->device, &it->context, it->job.stream, &ring);

	return tfs_rewrite_check(SELF, CHECK_BUSY, answer != TFS_RING_BUSY, site) &&
			       tfs_rewrite_check(
				       SELF, CHECK_PINNED, answer != TFS_RING_NO_MEMORY, site) &&
			       tfs_rewrite_check(
				       SELF, CHECK_ROOM, answer != TFS_RING_NO_SPACE, site) &&
			       tfs_rewrite_check(
				       SELF, CHECK_STREAM, answer != TFS_RING_NO_STREAM, site)
		       ? ring
		       : NULL;
}

/* Another thread may begin to capture at any time; nothing of ours may disturb that. */
static void relax(const struct accepted *it, int *mode)
{
	if (!TFS_MUTANT(TFS_STAGING_NAIVE_CAPTURE))
		it->device->capture_mode(mode);
}

/* As much of the copy as can be staged. */
static int stage(const struct accepted *it, size_t *out_done)
{
	const size_t bytes = it->job.op->copy.bytes;
	const uint32_t site = it->job.op->site;
	int mode = cudaStreamCaptureModeRelaxed;
	int status = 0;

	relax(it, &mode);
	struct tfs_staging_ring *ring = take_ring(it);
	const bool may_act = ring && tfs_rewrite_may_act(SELF);
	if (may_act) {
		status = tfs_staging_move(ring, &it->job, out_done);
		const bool fault = atomic_load(&ring->pieces.failed);
		const double gain_ns = tfs_staging_gain(&it->job, ring);
		tfs_staging_ring_give(ring);
		if (*out_done > 0)
			tfs_rewrite_acted(SELF, *out_done);
		if (status == 0 && *out_done < bytes)
			tfs_rewrite_check(SELF, fault ? CHECK_FAULT : CHECK_BUSY, false, site);
		else if (status == 0 && gain_ns == gain_ns)
			tfs_rewrite_predict_call(SELF, gain_ns);
	} else if (ring) {
		tfs_staging_ring_give(ring);
	}
	relax(it, &mode);
	return status;
}

/* A mutant. */
static bool was_sent(const struct tfs_op *op)
{
	static struct {
		const void *target;
		uint64_t sum;
	} last;
	uint64_t sum = op->copy.bytes;

	for (size_t i = 0; i < op->copy.bytes; i++)
		sum = sum * 31 + ((const unsigned char *)op->copy.source)[i];
	if (last.target == op->copy.target && last.sum == sum)
		return true;
	last.target = op->copy.target;
	last.sum = sum;
	return false;
}

static enum tfs_answer carry_out(struct accepted *it, uint32_t *out_status)
{
	const struct tfs_op *op = it->job.op;
	size_t done = 0;

	if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW)
		return TFS_MINDS;
	/* Who only wants to know gets no pinned memory and no threads. */
	if (!all_hold(op, it) || tfs_rewrite_mode(SELF) != TFS_MODE_APPLY)
		return TFS_LEAVES;
	if (TFS_MUTANT(TFS_STAGING_NAIVE_ERROR))
		tfs_staging_drop_error(it->device);
	if (TFS_MUTANT(TFS_STAGING_NAIVE_AGAIN) && was_sent(op))
		return *out_status = 0, TFS_DONE;
	if (tfs_staging_sample(it->device, &it->job, out_status))
		return TFS_DONE;
	*out_status = (uint32_t)stage(it, &done);
	if (*out_status == 0 && done > 0 && done < op->copy.bytes)
		*out_status = (uint32_t)tfs_staging_call(op, done);
	return *out_status != 0 || done > 0 ? TFS_DONE : TFS_LEAVES;
}

static __attribute__((noinline)) enum tfs_answer consider(struct tfs_op *op)
{
	const int saved = errno;
	struct accepted it;

	const enum tfs_answer answer =
		is_candidate(op, &it) ? carry_out(&it, &op->status) : TFS_LEAVES;
	errno = saved;
	return answer;
}

/* Most copies are too small, and know it at once. */
static enum tfs_answer before(struct tfs_op *op)
{
	if (op->copy.kind != cudaMemcpyHostToDevice ||
		op->copy.bytes >= tfs_options.staging_min_bytes)
		return consider(op);
	tfs_rewrite_refuse(SELF, CHECK_SIZE, op->site);
	return TFS_LEAVES;
}

static bool has_same_result(const struct tfs_op *op, struct tfs_reason *out_evidence)
{
	struct tfs_staging_compared compared = {.at = op->copy.bytes};
	struct accepted it = {0};
	int mode = cudaStreamCaptureModeRelaxed;

	if (!is_candidate(op, &it) || !all_hold(op, &it))
		return true;
	relax(&it, &mode);
	struct tfs_staging_ring *ring = take_ring(&it);
	if (ring) {
		tfs_rewrite_shadow(SELF, op->copy.bytes);
		tfs_staging_compare(ring, &it.job, &compared);
		tfs_staging_ring_give(ring);
	}
	relax(&it, &mode);
	if (compared.at < op->copy.bytes)
		*out_evidence = (struct tfs_reason){.code = it.job.out ? TFS_REASON_copy_out_differs
								       : TFS_REASON_copy_in_differs,
			.numbers = {op->copy.bytes, compared.at, compared.bytes}};
	return compared.at == op->copy.bytes;
}

/* In shadow: does what the program's own call has done once more, aside. */
static bool after(struct tfs_op *op)
{
	struct tfs_reason evidence = {0};

	if (op->status == 0 && !has_same_result(op, &evidence))
		tfs_rewrite_differs(SELF, op->site, &evidence);
	return false;
}

static void reset(const struct tfs_op *op)
{
	tfs_staging_ring_reset(op->device);
}

const struct tfs_rewrite tfs_rewrite_pinned_staging = {
	.name = "pinned-staging",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS101",
	.switchable = true,
	.compares = true,
	.priority = 40,
	.acts = TFS_OP_BIT(TFS_OP_COPY),
	.follows = TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.after = after,
	.event = reset,
};
