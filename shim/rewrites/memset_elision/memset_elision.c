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
 * - For each place of a fill, and each place and kind of call that uses it, TFS_EVIDENCE_TRIES
 *   times the program's own fill and call are made, and the call with beta = 0 aside, in memory of
 *   NaNs: the bits must be the same. Otherwise the rewrite is off: so it is where a library stands
 *   in for cuBLAS and reads what it should only write. Of one kind are calls of one function with
 *   the same shapes, alignments and all that arguments, descriptors and the handle say of how it is
 *   computed; not the numbers it works on, but for whether alpha is 0 or 1.
 *
 * The sign of a zero: 0 + -0 is +0, but with beta = 0 the result -0 stays. A place where a try has
 * shown that is left alone for good, and so are calls with a negative alpha. One that gives -0 for
 * the first time after all its tries came out the same would then give -0 instead of +0, which
 * compare equal. The same holds of results so small that a library takes them for zero in one of
 * the two.
 *
 * Its own model of the gain per hit: the least time that a fill took, in those tries, the host and
 * the device together.
 */
#include <errno.h>
#include <stdio.h>

#include "shim/base/mutant.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/memory/held_fills.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memset_elision/fill_checks.h"
#include "shim/rewrites/memset_elision/fill_trial.h"
#include "shim/rewrites/rewrite.h"

enum doing { NOTHING, TAKING, TRYING, COMPARING };

extern const struct tfs_rewrite tfs_rewrite_memset_elision;
#define SELF (&tfs_rewrite_memset_elision)

static const double zero; /* of a float too */
static struct tfs_evidence of_fills, of_uses;

static void ended(const struct tfs_held *held, uint32_t check)
{
	tfs_rewrite_check(SELF, check, false, held->site);
	/* To hold it back was for nothing. */
	if (held->state == TFS_HELD_BACK)
		tfs_evidence_spoiled(&of_fills, held->site, held->bytes);
}

static void unknown(const struct tfs_function *function)
{
	if (!tfs_fill_passes(function) && !TFS_MUTANT(TFS_NAIVE_PAST_CALLS))
		tfs_held_settle(ended, tfs_fill_ended_by(function));
}

static void event(const struct tfs_op *op)
{
	unknown(op->function);
}

static void prepare(struct tfs_op *op, const struct tfs_use_call *call, const struct tfs_held *held,
	enum doing doing)
{
	struct tfs_use *use = op->compute.own;

	use->doing = doing;
	use->beta = op->compute.beta;
	use->output = op->compute.output;
	use->fill_site = held->site;
	use->fill_bytes = held->bytes;
	use->bytes = call->output_bytes;
	use->shape = tfs_fill_shape(call, held);
	use->element_bytes = call->element_bytes;
	op->compute.beta = &zero;
}

/* The call is made aside first, then as the program asked. */
static enum tfs_answer try_out(
	struct tfs_op *op, const struct tfs_use_call *call, const struct tfs_held *held)
{
	void *scratch = tfs_fill_trial_memory(call->output, call->output_bytes, held->stream);

	if (!tfs_rewrite_check(SELF, TFS_FILL_SCRATCH, scratch != NULL, op->site))
		return TFS_LEAVES;
	prepare(op, call, held, TRYING);
	op->compute.own->scratch = scratch;
	op->compute.output = scratch;
	return TFS_MINDS;
}

static void drop(struct tfs_held *held)
{
	tfs_held_open();
	held->state = TFS_HELD_NONE;
	tfs_held_close();
}

/* Only what libraries compute can make a fill needless. */
static enum tfs_answer use_fill(struct tfs_op *op, const struct tfs_use_call *call)
{
	const enum tfs_rewrite_mode mode = tfs_rewrite_mode(SELF);
	struct tfs_held *held, *all = tfs_held_open();
	const enum tfs_fill_check against = tfs_fill_look(call, all, &held);

	if (against != TFS_FILL_FINE || !held) {
		tfs_held_close();
		if (against != TFS_FILL_FINE)
			tfs_held_settle(ended, against);
		return TFS_LEAVES;
	}
	const struct tfs_held was = *held;
	const bool enough = tfs_evidence_enough(&of_uses, op->site, tfs_fill_shape(call, &was));
	if (was.state == TFS_HELD_BACK)
		held->state = TFS_HELD_TAKEN;
	else
		held->state = TFS_HELD_NONE;
	tfs_held_close();
	if (was.state == TFS_HELD_BACK && enough && tfs_rewrite_apply(SELF, was.bytes)) {
		prepare(op, call, &was, TAKING);
		op->compute.own->entry = (uint32_t)(held - all);
		return TFS_MINDS;
	}
	if (was.state == TFS_HELD_BACK) {
		tfs_held_carry_out(&was);
		drop(held);
	}
	if (mode == TFS_MODE_SHADOW)
		tfs_rewrite_shadow(SELF, was.bytes);
	if (mode == TFS_MODE_SHADOW ||
		(mode == TFS_MODE_APPLY &&
			!tfs_rewrite_check(SELF, TFS_FILL_EVIDENCE,
				enough && tfs_evidence_enough(&of_fills, was.site, was.bytes),
				op->site)))
		return try_out(op, call, &was);
	return TFS_LEAVES;
}

/* Is there a fill that is followed? */
static bool any(void)
{
	return (__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_FILLS) != 0;
}

static bool fill(const struct tfs_op *op)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	const uint32_t device = tfs_held_device();

	if ((unsigned char)op->fill.value != 0 || op->fill.bytes == 0 || !use ||
		device == UINT32_MAX || !tfs_fill_followable(use, op, device))
		return false;
	const bool hold = tfs_rewrite_mode(SELF) == TFS_MODE_APPLY &&
			  tfs_evidence_enough(&of_fills, op->site, op->fill.bytes);
	const struct tfs_held held = {.state = hold ? TFS_HELD_BACK : TFS_HELD_DONE,
		.device = device,
		.site = op->site,
		.address = (uint64_t)(uintptr_t)op->fill.target,
		.bytes = op->fill.bytes,
		.stream = tfs_fill_stream(op->stream),
		.thread = tfs_held_self()};

	return tfs_rewrite_check(SELF, TFS_FILL_ROOM, tfs_held_add(&held), op->site) && hold;
}

/* What a fill or a copy uses, which may be a first use itself; false where it is not told. */
static bool told_by(const struct tfs_op *op, struct tfs_use_call *told)
{
	const bool copies = op->kind == TFS_OP_COPY;

	if (op->driver || (!copies && op->fill.shaped))
		return false;
	told->output = copies ? op->copy.target : op->fill.target;
	told->output_bytes = copies ? op->copy.bytes : op->fill.bytes;
	told->stream = !op->stream && op->per_thread ? (void *)2 : op->stream;
	if (copies)
		tfs_use_reads(told, op->copy.source, op->copy.bytes);
	return true;
}

static __attribute__((noinline)) enum tfs_answer use_by(struct tfs_op *op)
{
	struct tfs_use_call told = {.site = op->site};

	if (op->kind != TFS_OP_FILL && op->kind != TFS_OP_COPY) {
		told.shape = op->function->id;
		op->compute.tell(op, &told);
	} else if (!told_by(op, &told)) {
		event(op);
		return TFS_LEAVES;
	}
	return use_fill(op, &told);
}

static enum tfs_answer before(struct tfs_op *op)
{
	enum tfs_answer answer = TFS_LEAVES;

	if (any()) {
		const int saved = errno;

		answer = use_by(op);
		errno = saved;
	}
	if (op->kind != TFS_OP_FILL)
		return answer;
	op->status = 0;
	return !op->driver && !op->fill.shaped && op->may_act && fill(op) ? TFS_DONE : TFS_LEAVES;
}

/* The call that was to make a fill needless was made. If another thread has carried the fill out
 * meanwhile, that was before or after: only with another fill does the program's call begin at
 * zeros. */
static bool taken(struct tfs_op *op)
{
	struct tfs_use *use = op->compute.own;
	struct tfs_held *held = &tfs_held_open()[use->entry];
	const struct tfs_held was = *held;
	const bool good = op->status == 0 && was.state == TFS_HELD_TAKEN;

	if (good)
		held->state = TFS_MUTANT(TFS_NAIVE_EACH) ? TFS_HELD_BACK : TFS_HELD_NONE;
	tfs_held_close();
	use->doing = NOTHING;
	if (good) {
		tfs_rewrite_predict_call(SELF, (double)tfs_fill_trial_ns());
		return false;
	}
	tfs_held_carry_out(&was);
	drop(held);
	op->compute.beta = use->beta;
	return true;
}

static void compare(const struct tfs_use *use, uint32_t site)
{
	const struct tfs_reason evidence = {
		.code = TFS_REASON_zeroed_differs, .numbers = {use->bytes}};
	enum tfs_fill_trial result =
		tfs_fill_trial_compare(use->output, use->scratch, use->bytes, use->element_bytes);

	if (TFS_MUTANT(
		    TFS_NAIVE_PAST_CALLS | TFS_NAIVE_EACH | TFS_NAIVE_PADDED | TFS_NAIVE_PROMISE))
		result = TFS_FILL_SAME;
	switch (result) {
	case TFS_FILL_SAME:
		tfs_evidence_clean(&of_fills, use->fill_site, use->fill_bytes);
		tfs_evidence_clean(&of_uses, site, use->shape);
		break;
	case TFS_FILL_SIGNS:
		tfs_fill_leave_alone(site, use->shape);
		tfs_evidence_spoiled(&of_fills, use->fill_site, use->fill_bytes);
		break;
	case TFS_FILL_DIFFERS:
		tfs_evidence_spoiled(&of_fills, use->fill_site, use->fill_bytes);
		tfs_evidence_spoiled(&of_uses, site, use->shape);
		tfs_rewrite_differs(SELF, site, &evidence);
		break;
	case TFS_FILL_UNREAD:
		break;
	}
}

static bool after(struct tfs_op *op)
{
	struct tfs_use *use = op->compute.own;
	const enum doing doing = (enum doing)use->doing;

	if (doing == NOTHING)
		return false;
	if (doing == TAKING)
		return taken(op);
	op->compute.beta = use->beta;
	op->compute.output = use->output;
	use->doing = doing == TRYING && op->status == 0 ? COMPARING : NOTHING;
	if (use->doing == COMPARING)
		return true;
	if (doing == COMPARING && op->status == 0)
		compare(use, op->site);
	tfs_fill_trial_free(use->scratch);
	return doing == TRYING;
}

const struct tfs_rewrite tfs_rewrite_memset_elision = {
	.name = "memset-elision",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS402",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.priority = 30,
	.follows = TFS_OP_BIT(TFS_OP_FILL) | TFS_OP_BIT(TFS_OP_COPY) | TFS_OP_BIT(TFS_OP_COMPUTE) |
		   TFS_OP_BIT(TFS_OP_CONVOLVE) | TFS_OP_BIT(TFS_OP_OTHER),
	.before = before,
	.after = after,
	.event = event,
};
