/* SPDX-License-Identifier: MIT */
/*
 * sync-narrowing: a wait for which there is nothing left to do is answered at once, and a wait for
 * the whole device becomes one for the streams with work that the host might see. Only on when it
 * is named.
 *
 * Contract (exact: the same bits. Times change: what the program measures around a wait, by a clock
 * or by events, is what is waited for then, and the rest shows later).
 *
 * A wait that was waited for: all that the stream, or for an event or the device every stream, was
 * given is finished, by what was seen of earlier waits, and the device says so when it is asked. If
 * it answers anything but success the program's own call is made, which reports errors as ever.
 *
 * A narrowed wait (cudaDeviceSynchronize and cuCtxSynchronize only; also the later form that names
 * a context, if that is the current one):
 * - Waited for is every stream with work that the host might see: copies from or to the host, host
 *   functions, graphs, and any kernel, whatever its arguments. Left out are streams whose work has
 *   named all that it touches, plain device memory (work.h). So host memory may be read, changed,
 *   unmapped and freed, modules unloaded and printed lines expected, as after the whole wait.
 * - There is at least one such stream, with work that came after the latest narrowed wait; without
 *   one the wait would be gone, not narrowed, and the program's own is made. All work is behind
 *   that wait's fence (next point), so the host is never ahead of the device by more than what lies
 *   between two waits: what bounds queues and memory stays.
 * - Between streams the wait orders too: a fence takes its place, a few bytes filled on the legacy
 *   stream, which waits for all earlier work and for which all later work waits. So there is no
 *   stream that does neither: none was ever made with cudaStreamNonBlocking, none was destroyed
 *   (it may still be at work). When the first is made, the device is waited for before the program
 *   gets it.
 * - Nobody else may look: one device in the machine, one context; no collective, peer access,
 *   external semaphore, shared or exported memory was ever used; no library is loaded that lets
 *   network cards or files reach device memory; the device does not reach pageable memory. What
 *   would ask how far a stream or event is (cudaStreamQuery, cudaEventQuery, cudaEventElapsedTime)
 *   has the device waited for first.
 * - Errors of the streams waited for are reported by the wait; one of a stream left out shows at
 *   the program's next call that waits.
 * - In an exit handler that runs after the recording has ended, a query may find work unfinished
 *   that the last narrowed wait left out.
 *
 * Both need that all work is seen: every import of CUDA's in a loaded object is of a function with
 * a hook, or of one that submits nothing (unseen.h); else it refuses, by name. So it does while a
 * stream is captured, when an error waits for the program to ask for it, when threads' calls were
 * lost, and, for narrowing, when work is outstanding of which the stream is not known, or that is
 * on another thread's default stream, or on too many.
 *
 * At each call site it is first tried out beside the program's own call: the question is put, or
 * the streams are waited for, and then the program waits as it does. A try is clean when the device
 * had nothing left to do, or when the wait for everything found no error that the narrowed one did
 * not. TFS_EVIDENCE_TRIES clean ones, and it acts; one that is not, and it is off for the run.
 *
 * Its own model of the gain: the least time, of those tries, that the program's own wait took; of
 * a narrowed one no more than the host is then at something else until it next waits.
 */
#include <stdio.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/record/details.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/common/left_wait.h"
#include "shim/rewrites/common/unseen.h"
#include "shim/rewrites/common/work.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/sync_narrowing/narrowed_wait.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"

#define TRIED_WAITED_FOR 1
#define TRIED_NARROWED 2

/* Mutants: what the contract forbids. */
#define NAIVE_STALE (UINT64_C(1) << 43)    /* what was waited for once stays so */
#define NAIVE_NO_TRIES (UINT64_C(1) << 44) /* acts at once, and asks nothing */

enum check {
	CHECK_CAPTURE = TFS_CHECK_not_capturing,
	CHECK_ERROR = TFS_CHECK_no_error_waiting,
	CHECK_WAITED = TFS_CHECK_nothing_submitted_since,
	CHECK_SEEN = TFS_CHECK_all_calls_seen,
	CHECK_DEVICE = TFS_CHECK_one_device,
	CHECK_STREAMS = TFS_CHECK_no_free_streams,
	CHECK_USERS = TFS_CHECK_no_other_users,
	CHECK_PAGEABLE = TFS_CHECK_no_pageable_access,
	CHECK_REACH = TFS_CHECK_streams_in_reach,
	CHECK_SOMETHING = TFS_CHECK_work_to_wait_for,
	CHECK_LEFT = TFS_CHECK_work_to_leave_out,
	CHECK_EVIDENCE = TFS_CHECK_shadow_evidence,
	CHECK_CARRIED = TFS_CHECK_carried_out,
};

extern const struct tfs_rewrite tfs_rewrite_sync_narrowing;
#define SELF (&tfs_rewrite_sync_narrowing)

static struct tfs_evidence evidence;
static struct tfs_left_wait narrowed, waited_for_before;
static _Atomic(const char *) others_look; /* a call after which not all can be followed */
static _Atomic bool many_contexts;

static struct tfs_spin lock;
static struct {
	_Atomic bool known; /* the others are there, and stay */
	_Atomic(void *) context;
	bool one;
	bool apart; /* the device does not reach pageable memory */
} device;

/* After a wait, when its context is there for sure: what is concluded from waits holds in one only.
 */
static void look_at_device(const struct tfs_memory_functions *use)
{
	void *context = tfs_context_now();
	const bool asks = !device.known;
	int count = 0;
	const bool one = asks && use->device_count(&count) == 0 && count == 1;
	const bool apart = asks && !tfs_memory_reaches_pageable(use, 0);

	tfs_spin_lock(&lock);
	if (asks && !device.known) {
		device.one = one;
		device.apart = apart;
		device.context = context;
		device.known = true;
	}
	if (device.context != context)
		atomic_store(&many_contexts, true);
	tfs_spin_unlock(&lock);
}

/* Is it the thread's own context that is waited for? */
static bool is_here(const struct tfs_op *op)
{
	return op->wait.what != TFS_SYNC_DEVICE || !op->wait.handle ||
	       op->wait.handle == tfs_context_now();
}

static bool is_one_device(const struct tfs_op *op)
{
	return device.known && device.one && !atomic_load(&many_contexts) &&
	       device.context == tfs_context_now() && is_here(op);
}

static const char *unseen(void)
{
	const char *cause = tfs_unseen_work();

	return !cause && tfs_recorder_missed_threads() ? "a thread whose calls are not seen"
						       : cause;
}

static const char *others_may_look(void)
{
	const char *cause = atomic_load(&others_look);

	if (!cause && tfs_memory_peers())
		cause = "another device";
	if (!cause && tfs_memory_signals())
		cause = "a wait for the device outside of CUDA";
	return cause ? cause : tfs_unseen_users();
}

static bool in_reach(const struct tfs_work *work)
{
	if (work->unknown || work->visible > TFS_WORK_STREAMS)
		return false;
	for (uint32_t i = 0; i < work->visible; i++)
		if (!tfs_stream_handle(work->streams[i]))
			return false;
	return true;
}

/* The legacy stream is the last of all: it has what every other has. */
static bool is_drained(const struct tfs_op *op)
{
	const uint16_t stream = op->wait.what == TFS_SYNC_STREAM
					? tfs_stream_id(op->wait.handle, op->per_thread)
					: 0;

	if (TFS_MUTANT(NAIVE_STALE))
		return true;
	return op->wait.what == TFS_SYNC_STREAM && stream != tfs_stream_id(NULL, false)
		       ? !tfs_work_on(stream)
		       : !tfs_work_any();
}

static bool may_act(const struct tfs_memory_functions *use, const struct tfs_op *op,
	const struct tfs_work *work, bool drained)
{
	const bool blind = TFS_MUTANT(TFS_NAIVE_BLIND);
	const uint32_t site = op->site;

	if (!tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site) ||
		!tfs_rewrite_check(SELF, CHECK_ERROR, !use->error_waits(), site) ||
		!tfs_rewrite_check(
			SELF, CHECK_WAITED, drained || op->wait.what == TFS_SYNC_DEVICE, site) ||
		!tfs_rewrite_check_cause(SELF, CHECK_SEEN, unseen(), site) ||
		!tfs_rewrite_check(SELF, CHECK_DEVICE, is_one_device(op), site))
		return false;
	return drained ||
	       (tfs_rewrite_check(SELF, CHECK_STREAMS, tfs_narrowed_in_order(), site) &&
		       tfs_rewrite_check_cause(SELF, CHECK_USERS, others_may_look(), site) &&
		       tfs_rewrite_check(SELF, CHECK_PAGEABLE, device.apart, site) &&
		       tfs_rewrite_check(SELF, CHECK_REACH, in_reach(work), site) &&
		       tfs_rewrite_check(SELF, CHECK_SOMETHING, blind || work->visible > 0, site) &&
		       tfs_rewrite_check(SELF, CHECK_LEFT, work->quiet > 0, site));
}

static bool is_finished(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	int status;

	if (TFS_MUTANT(NAIVE_NO_TRIES))
		return true;
	if (op->wait.what == TFS_SYNC_EVENT)
		status = use->event_query(op->wait.handle);
	else if (op->wait.what == TFS_SYNC_STREAM && !op->wait.handle && op->per_thread)
		status = use->stream_query((void *)2);
	else
		status = use->stream_query(op->wait.what == TFS_SYNC_STREAM && op->wait.handle
						   ? op->wait.handle
						   : (void *)1);
	/* No error waited for the program before. */
	if (status != 0)
		use->forget_error();
	return status == 0;
}

static uint64_t shape_of(const struct tfs_op *op, bool drained)
{
	return (uint64_t)op->wait.what << 1 | (drained ? 1 : 0);
}

static void try_out(const struct tfs_memory_functions *use, struct tfs_op *op,
	const struct tfs_work *work, bool drained)
{
	op->wait.tried = drained ? TRIED_WAITED_FOR : TRIED_NARROWED;
	if (drained) {
		if (!is_finished(use, op))
			op->wait.tried = -op->wait.tried;
	} else {
		/* What is wrong with the device the program's own wait finds as well. */
		if (!tfs_narrowed_wait(use, work)) {
			op->wait.tried = -op->wait.tried;
			use->forget_error();
		}
		tfs_narrowed_get_fence(use);
	}
	op->wait.start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
}

static bool act(const struct tfs_memory_functions *use, const struct tfs_op *op,
	const struct tfs_work *work, bool drained)
{
	if (drained)
		return is_finished(use, op);
	if (!tfs_narrowed_wait(use, work) || !tfs_narrowed_put_fence(use)) {
		use->forget_error();
		return false;
	}
	for (uint32_t i = 0; i < work->visible; i++)
		tfs_work_finished_on(work->streams[i], op->wait.before);
	tfs_narrowed_owe(op->wait.before);
	return true;
}

static enum tfs_answer before(struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	const enum tfs_rewrite_mode mode = tfs_rewrite_mode(SELF);
	struct tfs_work work;

	if (op->wait.what == TFS_SYNC_ENDS_STREAM)
		tfs_narrowed_end_stream();
	if (op->wait.what == TFS_SYNC_ASKS && use)
		tfs_narrowed_pay(use);
	if (op->wait.what > TFS_SYNC_EVENT || mode == TFS_MODE_OFF)
		return TFS_LEAVES;
	if (!use)
		return TFS_MINDS;
	tfs_left_wait_end(&narrowed, SELF);
	op->wait.before = tfs_work_now();
	/* The first wait of all shows where the program works. */
	if (!op->may_act || !device.known)
		return TFS_MINDS;
	tfs_work_look(&work);
	const bool drained = is_drained(op);
	if (!may_act(use, op, &work, drained) || mode == TFS_MODE_REPORT)
		return TFS_MINDS;
	if (mode == TFS_MODE_SHADOW)
		tfs_rewrite_shadow(SELF, 0);
	if (mode == TFS_MODE_SHADOW ||
		(!TFS_MUTANT(NAIVE_NO_TRIES) &&
			!tfs_rewrite_check(SELF, CHECK_EVIDENCE,
				tfs_evidence_enough(&evidence, op->site, shape_of(op, drained)),
				op->site))) {
		try_out(use, op, &work, drained);
		return TFS_MINDS;
	}
	if (!tfs_rewrite_may_act(SELF) ||
		!tfs_rewrite_check(SELF, CHECK_CARRIED, act(use, op, &work, drained), op->site))
		return TFS_MINDS;
	tfs_rewrite_acted(SELF, 0);
	if (drained)
		tfs_rewrite_predict_call(SELF, (double)tfs_left_wait_least(&waited_for_before));
	else
		tfs_left_wait_begin(&narrowed);
	op->status = 0;
	return TFS_DONE;
}

/* The program's own wait is over: was the one that was tried out as good? */
static void judge(const struct tfs_op *op)
{
	const bool waited_for =
		op->wait.tried == TRIED_WAITED_FOR || op->wait.tried == -TRIED_WAITED_FOR;
	const uint64_t shape = shape_of(op, waited_for);
	struct tfs_reason what = {0};

	/* Another thread's work may be there before it is noted. */
	if (op->wait.tried < 0 && waited_for && tfs_work_is_own())
		what.code = TFS_REASON_at_work;
	else if (op->wait.tried == TRIED_NARROWED && op->status != 0)
		what.code = TFS_REASON_wait_reported_error;
	if (op->wait.tried > 0 && op->status == 0) {
		tfs_left_wait_learn(waited_for ? &waited_for_before : &narrowed,
			tfs_clock_ns(CLOCK_MONOTONIC) - op->wait.start_ns);
		tfs_evidence_clean(&evidence, op->site, shape);
		return;
	}
	tfs_evidence_spoiled(&evidence, op->site, shape);
	if (what.code != 0)
		tfs_rewrite_differs(SELF, op->site, &what);
}

static void learn(const struct tfs_op *op)
{
	if (op->wait.tried != 0)
		judge(op);
	const struct tfs_memory_functions *use = tfs_memory_functions(op->driver);
	if (op->status != 0 || !use || !is_here(op))
		return;
	look_at_device(use);
	if (atomic_load(&many_contexts))
		return;
	if (op->wait.what == TFS_SYNC_STREAM) {
		const uint16_t stream = tfs_stream_id(op->wait.handle, op->per_thread);

		/* A thread's own default stream may be the next thread's by number. */
		if (tfs_stream_handle(stream))
			tfs_work_finished_on(stream, op->wait.before);
	}
	if (op->wait.what == TFS_SYNC_DEVICE) {
		tfs_work_finished(op->wait.before);
		tfs_narrowed_paid(op->wait.before);
	}
}

static bool after(struct tfs_op *op)
{
	learn(op);
	return false;
}

static void submitted(const struct tfs_function *function, const struct tfs_details *details)
{
	if (!tfs_work_note(function, details))
		return;
	atomic_store(&others_look, function->name);
	const struct tfs_memory_functions *use =
		tfs_memory_functions(function->library == TFS_LIBRARY_cuda);
	if (use)
		tfs_narrowed_pay(use);
}

/* The program makes a stream that order does not bind. */
static void stream_created(void)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);

	if (!use)
		use = tfs_memory_functions(true);
	if (use)
		tfs_narrowed_pay(use);
}

static void reset(void)
{
	tfs_work_finished(tfs_work_now());
	tfs_narrowed_reset();
	tfs_spin_lock(&lock);
	device.known = false;
	tfs_spin_unlock(&lock);
}

static void event(const struct tfs_op *op)
{
	if (op->kind == TFS_OP_MADE)
		submitted(op->function, op->details);
	else if (op->kind == TFS_OP_STREAM)
		stream_created();
	else
		reset();
}

const struct tfs_rewrite tfs_rewrite_sync_narrowing = {
	.name = "sync-narrowing",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS201",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.priority = 60,
	.follows = TFS_OP_BIT(TFS_OP_WAIT) | TFS_OP_BIT(TFS_OP_MADE) | TFS_OP_BIT(TFS_OP_STREAM) |
		   TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.after = after,
	.event = event,
};
