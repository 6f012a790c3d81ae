/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memset_elision/fill_checks.h"

#include <string.h>

#include "shim/base/mutant.h"
#include "shim/record/hook.h"
#include "shim/rewrites/common/unseen.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"

extern const struct tfs_rewrite tfs_rewrite_memset_elision;
#define SELF (&tfs_rewrite_memset_elision)

#define LEFT_ALONE 64u

static struct {
	uint32_t site;
	uint64_t shape;
} left_alone[LEFT_ALONE];
static _Atomic uint32_t left_alone_count; /* more than there is room for: all */

void *tfs_fill_stream(void *stream)
{
	return stream ? stream : TFS_STREAM_IN_ORDER;
}

static bool ordered(const struct tfs_op *op)
{
	const void *stream = tfs_fill_stream(op->stream);
	const bool legacy = stream == TFS_STREAM_IN_ORDER && !op->per_thread;
	const bool per_thread = stream == (void *)2 || (!op->stream && op->per_thread);

	return !tfs_streams_free() && !per_thread && (legacy || tfs_streams_made() == 1) &&
	       (tfs_hook_families() & UINT64_C(1) << TFS_FAMILY_stream_destroy) == 0;
}

static bool is_plain(const struct tfs_op *op, uint32_t device)
{
	const uint64_t start = (uint64_t)(uintptr_t)op->fill.target;
	struct tfs_range range;

	return tfs_memory_find(start, &range) && range.kind == TFS_MEMORY_DEVICE &&
	       (range.flags & TFS_RANGE_WHOLE) != 0 && (range.flags & TFS_RANGE_SHARED) == 0 &&
	       range.device == device && start + op->fill.bytes <= range.address + range.bytes;
}

/* Could anybody use the memory without a hook being passed? */
static const char *unseen(void)
{
	const char *cause = tfs_unseen_work();

	if (!cause)
		cause = tfs_unseen_users();
	return cause ? cause : tfs_unseen_lookups();
}

bool tfs_fill_followable(
	const struct tfs_memory_functions *use, const struct tfs_op *op, uint32_t device)
{
	const uint32_t site = op->site;

	return tfs_rewrite_check_cause(SELF, TFS_FILL_SIGHT, unseen(), site) &&
	       tfs_rewrite_check(SELF, TFS_FILL_CAPTURE, !tfs_capturing(), site) &&
	       tfs_rewrite_check(SELF, TFS_FILL_MEMORY, is_plain(op, device), site) &&
	       tfs_rewrite_check(
		       SELF, TFS_FILL_HOST, !tfs_memory_reaches_pageable(use, (int)device), site) &&
	       tfs_rewrite_check(SELF, TFS_FILL_DEVICE,
		       !tfs_memory_any_elsewhere(device) && !tfs_memory_peers(), site) &&
	       tfs_rewrite_check(SELF, TFS_FILL_STREAM, ordered(op), site) &&
	       tfs_rewrite_check(SELF, TFS_FILL_ERROR, use->error_waits() == 0, site);
}

enum tfs_fill_check tfs_fill_ended_by(const struct tfs_function *function)
{
	switch (function ? function->family : TFS_FAMILY_other) {
	case TFS_FAMILY_launch:
		return TFS_FILL_KERNEL;
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
		return TFS_FILL_COPY;
	case TFS_FAMILY_event_record:
	case TFS_FAMILY_stream_wait:
		return TFS_FILL_EVENT;
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_stream_sync:
	case TFS_FAMILY_event_sync:
	case TFS_FAMILY_query:
		return TFS_FILL_WAIT;
	default:
		return TFS_FILL_CALL;
	}
}

bool tfs_fill_passes(const struct tfs_function *function)
{
	static const char *const names[] = {"cudaGetDevice", "cudaGetDeviceCount",
		"cudaGetLastError", "cudaMalloc", "cudaPeekAtLastError"};

	if (!function)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(function->name, names[i]) == 0)
			return true;
	switch (function->family) {
	case TFS_FAMILY_property:
	case TFS_FAMILY_constant:
	case TFS_FAMILY_descriptor:
	case TFS_FAMILY_descriptor_create:
	case TFS_FAMILY_descriptor_destroy:
	case TFS_FAMILY_workspace_query:
		return true;
	default:
		return false;
	}
}

static bool touches(const struct tfs_held *held, const void *address, uint64_t bytes)
{
	const uint64_t start = (uint64_t)(uintptr_t)address;

	return start < held->address + held->bytes && held->address < start + bytes;
}

static bool reads(const struct tfs_use_call *call, const struct tfs_held *held)
{
	for (uint32_t i = 0; i < call->read_count; i++)
		if (touches(held, call->reads[i].address, call->reads[i].bytes))
			return true;
	return false;
}

static bool is_left_alone(uint32_t site, uint64_t shape)
{
	const uint32_t count = atomic_load(&left_alone_count);

	for (uint32_t i = 0; i < count && i < LEFT_ALONE; i++)
		if (left_alone[i].site == site && left_alone[i].shape == shape)
			return true;
	return count > LEFT_ALONE;
}

void tfs_fill_leave_alone(uint32_t site, uint64_t shape)
{
	const uint32_t at = atomic_load(&left_alone_count);

	if (at < LEFT_ALONE)
		left_alone[at] = (__typeof__(left_alone[0])){site, shape};
	if (at <= LEFT_ALONE)
		atomic_store(&left_alone_count, at + 1);
}

/* Of an address, as far as a library may choose other code by it. */
static uint64_t alignment(const void *address)
{
	const uint64_t bits = (uint64_t)(uintptr_t)address | 16;

	return bits & (~bits + 1);
}

uint64_t tfs_fill_shape(const struct tfs_use_call *call, const struct tfs_held *held)
{
	struct tfs_use_call kind = {.shape = call->shape};

	tfs_use_shape(&kind, call->output_bytes);
	tfs_use_shape(&kind, call->element_bytes);
	tfs_use_shape(&kind, alignment(call->output));
	for (uint32_t i = 0; i < call->read_count; i++)
		tfs_use_shape(&kind, alignment(call->reads[i].address));
	/* 0 and 1 may be other code. */
	tfs_use_shape(&kind, call->alpha == 0 ? 0 : call->alpha == 1 ? 1 : 2);
	tfs_use_shape(&kind, call->beta != 0);
	tfs_use_shape(&kind, held->site);
	tfs_use_shape(&kind, held->bytes);
	return kind.shape;
}

/* Does the call make the fill needless? TFS_FILL_FINE if so, else what is against it. */
static enum tfs_fill_check judge(const struct tfs_use_call *call, const struct tfs_held *held)
{
	const uint64_t start = (uint64_t)(uintptr_t)call->output;
	const bool exactly = start == held->address && call->output_bytes == held->bytes;
	const bool covers =
		start <= held->address && held->address + held->bytes <= start + call->output_bytes;

	if (!call->scaled)
		return TFS_FILL_COPY;
	if (call->beta != 0 && call->beta != 1)
		return TFS_FILL_BETA;
	if (!(call->beta == 0 ? covers : exactly) ||
		(!call->dense && !TFS_MUTANT(TFS_NAIVE_PADDED)))
		return TFS_FILL_WHOLE;
	if (!call->repeats)
		return TFS_FILL_REPEATS;
	if ((call->beta != 0 && !(call->alpha >= 0)) ||
		is_left_alone(call->site, tfs_fill_shape(call, held)))
		return TFS_FILL_SIGN;
	return TFS_FILL_FINE;
}

enum tfs_fill_check tfs_fill_look(
	const struct tfs_use_call *call, struct tfs_held *all, struct tfs_held **out)
{
	*out = NULL;
	for (uint32_t i = 0; i < TFS_HELD_MOST; i++) {
		struct tfs_held *held = &all[i];

		if (held->state == TFS_HELD_NONE || held->state == TFS_HELD_LATE)
			continue;
		if (held->thread != tfs_held_self())
			return TFS_FILL_THREAD;
		if (held->stream != tfs_fill_stream(call->stream))
			return TFS_FILL_ELSEWHERE;
		if (call->unknown || reads(call, held))
			return TFS_FILL_READ;
		if (!call->output || !touches(held, call->output, call->output_bytes))
			continue;
		if (*out)
			return TFS_FILL_WHOLE;
		*out = held;
	}
	return *out ? judge(call, *out) : TFS_FILL_FINE;
}
