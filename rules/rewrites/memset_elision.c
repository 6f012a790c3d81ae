/* SPDX-License-Identifier: MIT */
/*
 * memset-elision: memory that is zeroed only to be written by the next call that uses it is not
 * zeroed. Where that call adds to the zeros with beta = 1, it is made with beta = 0, which cuDNN
 * and cuBLAS document to write without reading. Only on when it is named.
 *
 * A fill can only be left out by holding it back until its first use. Contract (exact, but for the
 * sign of a zero: below): nobody can tell.
 * - A fill that is held back is carried out, on its stream, before any other call of the program's,
 *   by whichever thread. Only calls that say what memory they work on before they are made may
 *   pass: those of cuDNN and cuBLAS with known operands, plain copies and fills, allocations, each
 *   of the same thread and stream and apart from the fill's range; and such as work on the host
 *   alone. Kernels, events, waits, queries, frees, captures, graphs, host functions, collectives
 *   and calls of the driver do not pass.
 * - It is left out when such a call writes every byte of it with beta = 0, or exactly its bytes
 *   with beta = 1, and reads none of them. The first call only: the next with beta = 1 adds.
 *   Should the call fail, or another thread's come in between, the fill is carried out and the call
 *   made again, as the program asked.
 * - No call is missed: nothing in the process asks for a function of NVIDIA's libraries that has no
 *   hook, or looks functions up by name, or gives network cards access to the device's memory.
 * - No work that was begun before can see the range: all streams keep to the legacy stream's order,
 *   and it is that stream's, or that of the only stream there is. The memory is the device's alone:
 *   not managed, not shared, no other device is used, and the host does not reach it.
 * - A fill of known memory has no error of its own. That of earlier work shows at the next call.
 * - Calls whose bits are another each time (convolutions and poolings that add in any order) are
 *   left alone: nothing could be proven of them.
 * - For each place of a fill, and each place and shape of a call that uses it, TFS_EVIDENCE_TRIES
 *   times the program's own fill and call are made, and the call with beta = 0 aside, in memory of
 *   NaNs: the bits must be the same. Otherwise the rewrite is off.
 *
 * The sign of a zero: 0 + -0 is +0, but with beta = 0 the result -0 stays. A place where a try has
 * shown that is left alone for good, and so are calls with a negative alpha. One that gives -0 for
 * the first time after all its tries came out the same would then give -0 instead of +0, which
 * compare equal. The same holds of results so small that a library takes them for zero in one of
 * the two.
 *
 * Its own model of the gain per hit: the least time that the call of a fill took.
 */
#include <stdio.h>
#include <string.h>

#include "rules/rewrites/evidence.h"
#include "rules/rewrites/fill_trial.h"
#include "rules/rewrites/fills.h"
#include "rules/rewrites/held_fills.h"
#include "rules/rewrites/memory_functions.h"
#include "rules/rewrites/rewrite.h"
#include "rules/rewrites/unseen.h"
#include "shim/capture.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/memory.h"
#include "shim/streams.h"

#define LEFT_ALONE 64u

/* Tests only, option `naive`: what the contract forbids. */
#define NAIVE_BLIND (1u << 23)  /* holds fills back whatever else is called */
#define NAIVE_EACH (1u << 24)   /* every call on the range is given beta = 0, not only the first */
#define NAIVE_PADDED (1u << 25) /* takes what is written in part for the whole */

enum check {
	CHECK_SIGHT,
	CHECK_CAPTURE,
	CHECK_MEMORY,
	CHECK_HOST,
	CHECK_DEVICE,
	CHECK_STREAM,
	CHECK_ERROR,
	CHECK_ROOM,
	CHECK_KERNEL,
	CHECK_COPY,
	CHECK_EVENT,
	CHECK_WAIT,
	CHECK_CALL,
	CHECK_THREAD,
	CHECK_ELSEWHERE,
	CHECK_READ,
	CHECK_WHOLE,
	CHECK_BETA,
	CHECK_REPEATS,
	CHECK_SIGN,
	CHECK_SCRATCH,
	CHECK_EVIDENCE,
	CHECK_COUNT
};

static const char *const checks[] = {"all-calls-seen", "no-capture", "plain-device-memory",
	"no-host-access", "one-device", "ordered-stream", "no-waiting-error", "room-to-follow",
	"no-kernel-between", "no-copy-between", "no-event-between", "no-wait-between",
	"no-other-call-between", "same-thread", "same-stream", "not-read", "whole-range",
	"beta-zero-or-one", "same-bits-each-time", "no-minus-zero", "scratch-memory",
	"shadow-evidence", NULL};

_Static_assert(CHECK_COUNT <= TFS_REWRITE_CHECKS, "room for all");

enum doing { NOTHING, TAKING, TRYING, COMPARING };

extern const struct tfs_rewrite tfs_rewrite_memset_elision;
#define SELF (&tfs_rewrite_memset_elision)

static const double zero; /* of a float too */
static struct tfs_evidence of_fills, of_uses;
static struct {
	uint32_t site;
	uint64_t shape;
} left_alone[LEFT_ALONE];
static _Atomic uint32_t left_alone_count; /* more than there is room for: all */

static bool is_naive(uint64_t what)
{
	return (tfs_options.naive & what) != 0;
}

static void *stream_of(void *stream)
{
	return stream == NULL ? TFS_STREAM_IN_ORDER : stream;
}

static bool ordered(const struct tfs_fill_call *call)
{
	const void *stream = stream_of(call->stream);
	const bool legacy = stream == TFS_STREAM_IN_ORDER && !call->per_thread;
	const bool per_thread = stream == (void *)2 || (call->stream == NULL && call->per_thread);

	return !tfs_streams_free() && !per_thread && (legacy || tfs_streams_made() == 1) &&
	       (tfs_hook_families() & UINT64_C(1) << TFS_FAMILY_stream_destroy) == 0;
}

static bool is_plain(const struct tfs_fill_call *call, uint32_t device)
{
	const uint64_t start = (uint64_t)(uintptr_t)call->target;
	struct tfs_range range;

	return tfs_memory_find(start, &range) && range.kind == TFS_MEMORY_DEVICE &&
	       (range.flags & TFS_RANGE_WHOLE) != 0 && (range.flags & TFS_RANGE_SHARED) == 0 &&
	       range.device == device && start + call->bytes <= range.address + range.bytes;
}

/* Could anybody use the memory without a hook being passed? */
static bool is_unseen(void)
{
	return tfs_unseen_work() || tfs_unseen_users() || tfs_unseen_lookups();
}

/* May the fill be followed at all? */
static bool may_follow(
	const struct tfs_memory_functions *use, const struct tfs_fill_call *call, uint32_t device)
{
	const uint32_t site = call->site;

	return tfs_rewrite_check(SELF, CHECK_SIGHT, !is_unseen(), site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site) &&
	       tfs_rewrite_check(SELF, CHECK_MEMORY, is_plain(call, device), site) &&
	       tfs_rewrite_check(SELF, CHECK_HOST, !use->reaches_pageable((int)device), site) &&
	       tfs_rewrite_check(SELF, CHECK_DEVICE,
		       !tfs_memory_any_elsewhere(device) && !tfs_memory_peers(), site) &&
	       tfs_rewrite_check(SELF, CHECK_STREAM, ordered(call), site) &&
	       tfs_rewrite_check(SELF, CHECK_ERROR, !use->error_waits(), site);
}

static bool fill(const struct tfs_fill_call *call)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	const uint32_t device = tfs_held_device();

	if (use == NULL || device == UINT32_MAX || !may_follow(use, call, device))
		return false;
	const bool hold = tfs_rewrite_mode(SELF) == TFS_MODE_APPLY &&
			  tfs_evidence_enough(&of_fills, call->site, call->bytes);
	const struct tfs_held held = {.state = hold ? TFS_HELD_BACK : TFS_HELD_DONE,
		.device = device,
		.site = call->site,
		.address = (uint64_t)(uintptr_t)call->target,
		.bytes = call->bytes,
		.stream = stream_of(call->stream),
		.thread = tfs_held_self()};

	return tfs_rewrite_check(SELF, CHECK_ROOM, tfs_held_add(&held), call->site) && hold;
}

static void ended(const struct tfs_held *held, uint32_t check)
{
	tfs_rewrite_check(SELF, check, false, held->site);
	/* To hold it back was for nothing. */
	if (held->state == TFS_HELD_BACK)
		tfs_evidence_spoiled(&of_fills, held->site, held->bytes);
}

static enum check why(const struct tfs_function *function)
{
	switch (function != NULL ? function->family : TFS_FAMILY_other) {
	case TFS_FAMILY_launch:
		return CHECK_KERNEL;
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
		return CHECK_COPY;
	case TFS_FAMILY_event_record:
	case TFS_FAMILY_stream_wait:
		return CHECK_EVENT;
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_stream_sync:
	case TFS_FAMILY_event_sync:
	case TFS_FAMILY_query:
		return CHECK_WAIT;
	default:
		return CHECK_CALL;
	}
}

/* Is it only about the host? */
static bool passes(const struct tfs_function *function)
{
	static const char *const names[] = {"cudaGetDevice", "cudaGetDeviceCount",
		"cudaGetLastError", "cudaMalloc", "cudaPeekAtLastError"};

	if (function == NULL)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(function->name, names[i]) == 0)
			return true;
	return function->family == TFS_FAMILY_property ||
	       function->family == TFS_FAMILY_descriptor ||
	       function->family == TFS_FAMILY_workspace_query;
}

static void before(const struct tfs_function *function)
{
	if (!passes(function) && !is_naive(NAIVE_BLIND))
		tfs_held_settle(ended, why(function));
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

static void leave_alone(uint32_t site, uint64_t shape)
{
	const uint32_t at = atomic_load(&left_alone_count);

	if (at < LEFT_ALONE)
		left_alone[at] = (__typeof__(left_alone[0])){site, shape};
	if (at <= LEFT_ALONE)
		atomic_store(&left_alone_count, at + 1);
}

static uint64_t shape_of(const struct tfs_use_call *call, const struct tfs_held *held)
{
	const uint64_t parts[] = {call->shape, call->output_bytes, call->beta != 0, held->site,
		held->bytes, call->element_bytes};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = (hash ^ parts[i]) * UINT64_C(0x9E3779B97F4A7C15);
	return hash;
}

/* Does the call make the fill needless? CHECK_COUNT if so, else what is against it. */
static enum check judge(const struct tfs_use_call *call, const struct tfs_held *held)
{
	const uint64_t start = (uint64_t)(uintptr_t)call->output;
	const bool exactly = start == held->address && call->output_bytes == held->bytes;
	const bool covers =
		start <= held->address && held->address + held->bytes <= start + call->output_bytes;

	if (!call->scaled)
		return CHECK_COPY;
	if (call->beta != 0 && call->beta != 1)
		return CHECK_BETA;
	if (!(call->beta == 0 ? covers : exactly) || (!call->dense && !is_naive(NAIVE_PADDED)))
		return CHECK_WHOLE;
	if (!call->repeats)
		return CHECK_REPEATS;
	if ((call->beta != 0 && !(call->alpha >= 0)) ||
		is_left_alone(call->site, shape_of(call, held)))
		return CHECK_SIGN;
	return CHECK_COUNT;
}

/* What the call means to all that is followed; `out` is the fill that it may make needless. The
 * table is locked. */
static enum check look(const struct tfs_use_call *call, struct tfs_held *all, struct tfs_held **out)
{
	*out = NULL;
	for (uint32_t i = 0; i < TFS_HELD_MOST; i++) {
		struct tfs_held *held = &all[i];

		if (held->state == TFS_HELD_NONE || held->state == TFS_HELD_LATE)
			continue;
		if (held->thread != tfs_held_self())
			return CHECK_THREAD;
		if (held->stream != stream_of(call->stream))
			return CHECK_ELSEWHERE;
		if (call->unknown || reads(call, held))
			return CHECK_READ;
		if (call->output == NULL || !touches(held, call->output, call->output_bytes))
			continue;
		if (*out != NULL)
			return CHECK_WHOLE;
		*out = held;
	}
	return *out != NULL ? judge(call, *out) : CHECK_COUNT;
}

static void prepare(struct tfs_use *use, const struct tfs_use_call *call,
	const struct tfs_held *held, enum doing doing)
{
	use->doing = doing;
	use->own_beta = use->beta;
	use->own_output = use->output;
	use->fill_site = held->site;
	use->fill_bytes = held->bytes;
	use->bytes = call->output_bytes;
	use->shape = shape_of(call, held);
	use->site = call->site;
	use->element_bytes = call->element_bytes;
	use->beta = &zero;
}

/* The call is made aside first, then as the program asked. */
static void try_out(
	struct tfs_use *use, const struct tfs_use_call *call, const struct tfs_held *held)
{
	void *scratch = tfs_fill_trial_memory(call->output, call->output_bytes, held->stream);

	if (!tfs_rewrite_check(SELF, CHECK_SCRATCH, scratch != NULL, call->site))
		return;
	prepare(use, call, held, TRYING);
	use->scratch = scratch;
	use->output = scratch;
}

static void drop(struct tfs_held *held)
{
	tfs_held_open();
	held->state = TFS_HELD_NONE;
	tfs_held_close();
}

static void use_fill(const struct tfs_use_call *call, struct tfs_use *use)
{
	const enum tfs_rewrite_mode mode = tfs_rewrite_mode(SELF);
	struct tfs_held *held, *all = tfs_held_open();
	const enum check against = look(call, all, &held);

	if (against != CHECK_COUNT || held == NULL) {
		tfs_held_close();
		if (against != CHECK_COUNT)
			tfs_held_settle(ended, against);
		return;
	}
	const struct tfs_held was = *held;
	const bool enough = tfs_evidence_enough(&of_uses, call->site, shape_of(call, &was));
	if (was.state == TFS_HELD_BACK)
		held->state = TFS_HELD_TAKEN;
	else
		held->state = TFS_HELD_NONE;
	tfs_held_close();
	if (was.state == TFS_HELD_BACK && enough && tfs_rewrite_apply(SELF, was.bytes)) {
		prepare(use, call, &was, TAKING);
		use->entry = (uint32_t)(held - all);
		return;
	}
	if (was.state == TFS_HELD_BACK) {
		tfs_held_carry_out(&was);
		drop(held);
	}
	if (mode == TFS_MODE_SHADOW)
		tfs_rewrite_shadow(SELF, was.bytes);
	if (mode == TFS_MODE_SHADOW ||
		(mode == TFS_MODE_APPLY &&
			!tfs_rewrite_check(SELF, CHECK_EVIDENCE,
				enough && tfs_evidence_enough(&of_fills, was.site, was.bytes),
				call->site)))
		try_out(use, call, &was);
}

/* The call that was to make a fill needless was made. If another thread has carried the fill out
 * meanwhile, that was before or after: only with another fill does the program's call begin at
 * zeros. */
static bool taken(struct tfs_use *use, uint32_t status)
{
	struct tfs_held *held = &tfs_held_open()[use->entry];
	const struct tfs_held was = *held;
	const bool good = status == 0 && was.state == TFS_HELD_TAKEN;

	if (good)
		held->state = is_naive(NAIVE_EACH) ? TFS_HELD_BACK : TFS_HELD_NONE;
	tfs_held_close();
	use->doing = NOTHING;
	if (good) {
		tfs_rewrite_predict_call(SELF, (double)tfs_held_cost_ns());
		return false;
	}
	tfs_held_carry_out(&was);
	drop(held);
	use->beta = use->own_beta;
	return true;
}

static void compare(const struct tfs_use *use)
{
	char evidence[100];

	enum tfs_fill_trial result = tfs_fill_trial_compare(
		use->own_output, use->scratch, use->bytes, use->element_bytes);

	if (is_naive(NAIVE_BLIND | NAIVE_EACH | NAIVE_PADDED))
		result = TFS_FILL_SAME;
	switch (result) {
	case TFS_FILL_SAME:
		tfs_evidence_clean(&of_fills, use->fill_site, use->fill_bytes);
		tfs_evidence_clean(&of_uses, use->site, use->shape);
		break;
	case TFS_FILL_SIGNS:
		leave_alone(use->site, use->shape);
		tfs_evidence_spoiled(&of_fills, use->fill_site, use->fill_bytes);
		break;
	case TFS_FILL_DIFFERS:
		snprintf(evidence, sizeof(evidence),
			"%llu bytes that were zeroed first came out different from those that were "
			"not",
			(unsigned long long)use->bytes);
		tfs_evidence_spoiled(&of_fills, use->fill_site, use->fill_bytes);
		tfs_evidence_spoiled(&of_uses, use->site, use->shape);
		tfs_rewrite_differs(SELF, use->site, evidence);
		break;
	case TFS_FILL_UNREAD:
		break;
	}
}

static bool used(struct tfs_use *use, uint32_t status)
{
	const enum doing doing = (enum doing)use->doing;

	if (doing == NOTHING)
		return false;
	if (doing == TAKING)
		return taken(use, status);
	use->beta = use->own_beta;
	use->output = use->own_output;
	use->doing = doing == TRYING && status == 0 ? COMPARING : NOTHING;
	if (use->doing == COMPARING)
		return true;
	if (doing == COMPARING && status == 0)
		compare(use);
	tfs_fill_trial_free(use->scratch);
	return doing == TRYING;
}

const struct tfs_rewrite tfs_rewrite_memset_elision = {
	.name = "memset-elision",
	.rank = TFS_CLASS_EXACT,
	.rules = "TFS402",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.checks = checks,
	.fill = fill,
	.before = before,
	.use = use_fill,
	.used = used,
};
