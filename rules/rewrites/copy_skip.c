/* SPDX-License-Identifier: MIT */
/*
 * copy-skip: a blocking copy from pageable memory to the device is left out where the device holds
 * those bytes already. Only on when it is named.
 *
 * Contract (exact: the same bytes, up to a collision of the hash):
 * - What the program copied before proves nothing, since a kernel may have changed it. The
 *   destination itself is hashed where it lies, and the source on the host; the copy is left out
 *   only if both are equal. Nothing need be known of kernels. Two contents that differ are taken
 *   for equal with a probability of at most 2^-126 (content_hash.h), by a key that is drawn at
 *   start.
 * - First the stream is waited for, as cudaMemcpy does with pageable memory: what earlier work,
 *   host functions too, writes to the source is in it. The destination is hashed on the legacy
 *   stream, in the copy's place: after all work that the copy would have come after, before all
 *   that would have come after it. So every stream must keep to that order: none was ever made with
 *   cudaStreamNonBlocking, none was destroyed (it may still be at work), no memory is on another
 *   device, no peer, process or card was given access to the memory.
 * - Each byte of the source is read once. If another thread writes to it meanwhile, the bytes that
 *   were hashed are bytes that were there at some moment of the call, and the destination has just
 *   these: a copy that read each at that moment would have left the same. If they differ from the
 *   destination's the program's copy is made, and reads the source for itself.
 * - The same memory only: pageable source that is mapped, plain memory of the current context as
 *   destination. Managed, pinned, registered, pooled or mapped memory, arrays, copies on other
 *   streams, copies that need not block and copies to the host are left alone, and all of them
 *   while a stream is being captured.
 * - An error of the device that waiting finds out is the call's result, as it is without; when
 *   hashing fails, the program's own call is made.
 * - At each call site and size it is first tried out beside the copy, which is made: contents must
 *   be equal as often as evidence.h says, and bytes that are read back, up to 1 MiB, the source's.
 *   If those differ where the hashes do not, the rewrite is off. The first difference of the
 *   contents takes the evidence away, and the site is left alone for a time that doubles.
 * - Beside the program's memory it takes 1/127 of the largest copy on the device, and 64 KiB, and
 *   the kernel; never where less than 64 times as much, or 128 MiB, is free.
 *
 * Its own model of the gain per copy that is left out: the least time that the program's copy took
 * while it was tried out, less the time that comparing took; a comparison that was for nothing
 * counts against it. Where comparing takes longer than copying it stays off.
 */
#include <driver_types.h>
#include <stdio.h>
#include <string.h>

#include "rules/rewrites/content_kernel.h"
#include "rules/rewrites/contexts.h"
#include "rules/rewrites/copy_skip_compare.h"
#include "rules/rewrites/copy_skip_places.h"
#include "rules/rewrites/evidence.h"
#include "rules/rewrites/memory_functions.h"
#include "rules/rewrites/pinned_staging_limits.h"
#include "rules/rewrites/rewrite.h"
#include "shim/capture.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/streams.h"

#define BLOCKS 16u /* of 64 KiB, that are read back when it is tried out */

enum check {
	CHECK_DIRECTION,
	CHECK_SIZE,
	CHECK_BLOCKING,
	CHECK_LEGACY,
	CHECK_CAPTURE,
	CHECK_LIBRARY,
	CHECK_DRIVER,
	CHECK_CONTEXT,
	CHECK_SOURCE,
	CHECK_TARGET,
	CHECK_SHARED,
	CHECK_ALIGNED,
	CHECK_STREAMS,
	CHECK_DEVICES,
	CHECK_MAPPED,
	CHECK_ALONE,
	CHECK_RECURS,
	CHECK_RESTED,
	CHECK_CHEAPER,
	CHECK_EVIDENCE,
	CHECK_KERNEL,
	CHECK_EQUAL,
};

static const char *const checks[] = {"to-device", "size", "blocking", "legacy-stream",
	"not-capturing", "usable-library", "driver", "current-context", "source-pageable",
	"target-device-memory", "not-shared", "target-aligned", "no-free-streams", "one-device",
	"source-mapped", "one-at-a-time", "recurs", "unchanged-lately", "cheaper-than-copy",
	"shadow-evidence", "hashed-on-device", "equal", NULL};

extern const struct tfs_rewrite tfs_rewrite_copy_skip;
#define SELF (&tfs_rewrite_copy_skip)

struct accepted {
	const struct tfs_copy_call *call;
	const struct tfs_staging_device *device;
	struct tfs_staging_context context;
	struct tfs_skip_place place;
};

static struct tfs_evidence tried; /* copies, by size */

static bool is_naive(uint64_t what)
{
	return (tfs_options.naive & what) != 0;
}

static uint64_t now(void)
{
	return tfs_clock_ns(CLOCK_MONOTONIC);
}

static bool goes_to_device(const struct tfs_copy_call *call)
{
	struct tfs_range range;

	return call->kind == cudaMemcpyHostToDevice ||
	       (call->kind == cudaMemcpyDefault &&
		       !tfs_memory_find((uint64_t)(uintptr_t)call->source, &range));
}

/* What can be said without asking CUDA. */
static bool may_be(const struct tfs_copy_call *call)
{
	const uint32_t site = call->site;

	return tfs_rewrite_check(SELF, CHECK_DIRECTION, goes_to_device(call), site) &&
	       tfs_rewrite_check(SELF, CHECK_SIZE,
		       call->bytes > 0 && call->bytes >= tfs_options.skip_min_bytes &&
			       call->bytes <= TFS_CONTENT_MOST,
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_BLOCKING, !call->async, site) &&
	       tfs_rewrite_check(SELF, CHECK_LEGACY,
		       tfs_staging_stream(call) == (void *)cudaStreamLegacy, site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site);
}

static bool has_context(struct accepted *it)
{
	const uint32_t site = it->call->site;
	const void *current;

	it->device = tfs_staging_device_of(it->call);
	if (!tfs_rewrite_check(SELF, CHECK_LIBRARY, it->device != NULL, site))
		return false;
	current = tfs_context_now();
	return tfs_rewrite_check(SELF, CHECK_DRIVER, tfs_memory_functions(true) != NULL, site) &&
	       tfs_rewrite_check(SELF, CHECK_CONTEXT,
		       tfs_staging_context(it->device, &it->context) &&
			       it->context.key == (uint64_t)(uintptr_t)current &&
			       tfs_context_of(it->call->target) == current,
		       site);
}

static bool has_places(const struct accepted *it)
{
	const struct tfs_copy_call *call = it->call;
	const uint64_t target = (uint64_t)(uintptr_t)call->target;
	const uint32_t site = call->site;
	struct tfs_range range = {0};
	const bool whole =
		tfs_memory_find(target, &range) && range.kind == TFS_MEMORY_DEVICE &&
		(range.flags & TFS_RANGE_WHOLE) != 0 &&
		target + call->bytes <= range.address + range.bytes &&
		tfs_staging_place(it->device, &it->context, call->target) == TFS_PLACE_OWN_DEVICE;

	return tfs_rewrite_check(SELF, CHECK_SOURCE,
		       tfs_staging_is_pageable(it->device, &it->context, call->source, call->bytes),
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_TARGET, whole, site) &&
	       tfs_rewrite_check(SELF, CHECK_SHARED,
		       (range.flags & TFS_RANGE_SHARED) == 0 && !tfs_memory_peers(), site) &&
	       tfs_rewrite_check(SELF, CHECK_ALIGNED, target % 8 == 0, site) &&
	       tfs_rewrite_check(SELF, CHECK_STREAMS,
		       !tfs_streams_free() &&
			       (tfs_hook_families() & UINT64_C(1) << TFS_FAMILY_stream_destroy) ==
				       0,
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_DEVICES,
		       !tfs_memory_any_elsewhere((uint32_t)it->context.device), site) &&
	       tfs_rewrite_check(
		       SELF, CHECK_MAPPED, tfs_staging_is_mapped(call->source, call->bytes), site);
}

/* Is it a place where comparing may pay? */
static bool is_promising(struct accepted *it)
{
	const struct tfs_copy_call *call = it->call;

	it->place = (struct tfs_skip_place){.target = (uint64_t)(uintptr_t)call->target,
		.bytes = call->bytes,
		.site = call->site};
	tfs_skip_ask(&it->place);
	return tfs_rewrite_check(SELF, CHECK_RECURS, it->place.seen, call->site) &&
	       tfs_rewrite_check(SELF, CHECK_RESTED,
		       it->place.rest == 0 || tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW,
		       call->site);
}

static bool is_same(const struct tfs_content_hash *one, const struct tfs_content_hash *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

/* Are the bytes equal as the hashes say? If they are not, and nobody changed them meanwhile, the
 * rewrite is off. */
static bool is_proven(const struct accepted *it, size_t most, const struct tfs_content_hash *source,
	const struct tfs_content_hash *target)
{
	struct tfs_content_hash source_now;
	struct tfs_content_hash target_now;
	size_t at = tfs_skip_differs_at(it->call, most);
	char evidence[100];

	if (at == it->call->bytes)
		return true;
	if (!tfs_skip_hash_both(it->call, &it->context, &source_now, &target_now) ||
		!is_same(source, &source_now) || !is_same(target, &target_now))
		return false;
	at = tfs_skip_differs_at(it->call, most);
	if (at == it->call->bytes)
		return false;
	snprintf(evidence, sizeof(evidence),
		"%zu bytes on the device were taken for the source's, and differ from byte %zu on",
		it->call->bytes, at);
	tfs_rewrite_differs(SELF, it->call->site, evidence);
	return false;
}

static void note_outcome(struct accepted *it, bool equal)
{
	if (equal) {
		tfs_evidence_clean(&tried, it->call->site, it->call->bytes);
		return;
	}
	tfs_evidence_spoiled(&tried, it->call->site, it->call->bytes);
	tfs_skip_differed(&it->place);
}

/* The hash of the device, the copy, which the memory's caches have not been prepared for, and the
 * hash of the source. */
static bool try_copying(struct accepted *it, uint32_t *out_status)
{
	const struct tfs_copy_call *call = it->call;
	struct tfs_content_hash source;
	struct tfs_content_hash target;

	if (!tfs_rewrite_check(SELF, CHECK_KERNEL,
		    tfs_skip_hash_target(it->call, &it->context, &target), call->site)) {
		tfs_skip_differed(&it->place);
		return false;
	}
	const uint64_t start_ns = now();
	*out_status = (uint32_t)tfs_staging_copy(
		it->device, call->target, call->source, call->bytes, call->kind);
	if (*out_status != 0)
		return true;
	tfs_skip_note_copy(&it->place, now() - start_ns);
	tfs_skip_hash_source(call, &source);
	note_outcome(it, tfs_skip_is_equal(it->call, &source, &target));
	return true;
}

/* Both hashes, and the bytes themselves; the copy is the program's to make. */
static void try_comparing(struct accepted *it, size_t most)
{
	const uint64_t start_ns = now();
	struct tfs_content_hash source;
	struct tfs_content_hash target;

	if (!tfs_rewrite_check(SELF, CHECK_KERNEL,
		    tfs_skip_hash_both(it->call, &it->context, &source, &target), it->call->site)) {
		tfs_skip_differed(&it->place);
		return;
	}
	tfs_skip_note_check(&it->place, now() - start_ns);
	const bool equal = tfs_skip_is_equal(it->call, &source, &target) &&
			   is_proven(it, most, &source, &target);
	if (equal && tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW)
		tfs_rewrite_shadow(SELF, it->call->bytes);
	note_outcome(it, equal);
}

static bool try_out(struct accepted *it, uint32_t *out_status)
{
	tfs_rewrite_check(SELF, CHECK_EVIDENCE, false, it->call->site);
	/* The table of what was seen may be full: then it would go on for ever. */
	if (it->place.tries >= 2 * TFS_EVIDENCE_TRIES)
		return false;
	tfs_skip_tried(&it->place);
	if (it->place.tries % 2 != 0)
		return try_copying(it, out_status);
	try_comparing(it, BLOCKS);
	return false;
}

static bool skip(struct accepted *it, uint32_t *out_status)
{
	const uint64_t start_ns = now();
	struct tfs_content_hash source;
	struct tfs_content_hash target;

	if (!tfs_rewrite_check(SELF, CHECK_KERNEL,
		    tfs_skip_hash_both(it->call, &it->context, &source, &target), it->call->site)) {
		tfs_skip_differed(&it->place);
		return false;
	}
	const double spent_ns = (double)(now() - start_ns);
	if (!tfs_rewrite_check(SELF, CHECK_EQUAL, tfs_skip_is_equal(it->call, &source, &target),
		    it->call->site)) {
		note_outcome(it, false);
		tfs_rewrite_predict_call(SELF, -spent_ns);
		return false;
	}
	tfs_rewrite_apply(SELF, it->call->bytes);
	tfs_rewrite_predict_call(SELF, (double)it->place.copy_ns - spent_ns);
	*out_status = 0;
	return true;
}

static bool is_cheaper(const struct tfs_skip_place *place)
{
	return is_naive(TFS_SKIP_NAIVE_COST) ||
	       (place->check_ns < place->copy_ns && !is_naive(TFS_SKIP_NAIVE_SLOW));
}

static bool carry_out(struct accepted *it, uint32_t *out_status)
{
	const struct tfs_copy_call *call = it->call;
	const struct tfs_skip_place *place = &it->place;

	if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW) {
		try_comparing(it, call->bytes);
		return false;
	}
	if (place->copy_ns == 0 || place->check_ns == 0 ||
		!tfs_evidence_enough(&tried, call->site, call->bytes))
		return try_out(it, out_status);
	if (!tfs_rewrite_check(SELF, CHECK_CHEAPER, is_cheaper(place), call->site)) {
		tfs_rewrite_explain(SELF, "to compare takes longer than to copy");
		return false;
	}
	return skip(it, out_status);
}

/* What waiting finds out, the program's copy would have told. */
static bool is_drained(const struct accepted *it, uint32_t *out_status)
{
	const int status =
		is_naive(TFS_SKIP_NAIVE_EARLY) ? 0 : it->device->wait((void *)cudaStreamLegacy);

	if (status != 0)
		*out_status = (uint32_t)status;
	return status == 0;
}

static bool copy(const struct tfs_copy_call *call, uint32_t *out_status)
{
	struct accepted it = {.call = call};
	int mode = cudaStreamCaptureModeRelaxed;
	bool done = true;

	if (!may_be(call) || !has_context(&it) || !has_places(&it) ||
		tfs_rewrite_mode(SELF) == TFS_MODE_REPORT || !is_promising(&it))
		return false;
	/* Another thread may begin to capture at any time; nothing of ours may disturb that. */
	it.device->capture_mode(&mode);
	if (is_drained(&it, out_status)) {
		done = tfs_rewrite_check(SELF, CHECK_ALONE, tfs_skip_take(), call->site);
		if (done) {
			done = carry_out(&it, out_status);
			tfs_skip_give();
		}
	}
	it.device->capture_mode(&mode);
	return done;
}

const struct tfs_rewrite tfs_rewrite_copy_skip = {
	.name = "copy-skip",
	.rank = TFS_CLASS_EXACT,
	.rules = "",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.checks = checks,
	.start = tfs_skip_draw,
	.copy = copy,
	.reset = tfs_content_reset,
};
