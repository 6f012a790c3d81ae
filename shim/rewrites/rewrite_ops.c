/* SPDX-License-Identifier: MIT */
/* Calls that are about to be made, and rewrites that want them. */
#include "shim/rewrites/rewrite_ops.h"

#include <errno.h>
#include <stdatomic.h>

#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/steps/windows.h"

uint32_t tfs_rewrites_wanting;

/* By kind: rewrites, by number, in the order of their priorities. */
static struct {
	uint8_t rewrites[TFS_REWRITES_MOST];
	uint8_t count;
	uint8_t padding[15]; /* for one shift */
} asked[TFS_OP_KINDS];

static uint32_t acted, followed;      /* kinds */
static uint32_t steady;               /* rewrites that cannot be switched, by bit */
static uint32_t allowed = UINT32_MAX; /* until the run is over; relaxed atomic */

static void add(enum tfs_op_kind kind, uint8_t i)
{
	uint8_t at = asked[kind].count++;

	for (; at > 0 && tfs_rewrite_all[asked[kind].rewrites[at - 1]]->priority >
				 tfs_rewrite_all[i]->priority;
		at--)
		asked[kind].rewrites[at] = asked[kind].rewrites[at - 1];
	asked[kind].rewrites[at] = i;
}

uint32_t tfs_rewrite_ops_add(size_t i)
{
	const struct tfs_rewrite *rewrite = tfs_rewrite_all[i];
	const uint32_t kinds = rewrite->acts | rewrite->follows;

	acted |= rewrite->acts;
	followed |= rewrite->follows;
	steady |= rewrite->switchable ? 0 : 1u << i;
	for (uint32_t kind = 0; kind < TFS_OP_KINDS; kind++)
		if ((kinds & TFS_OP_BIT(kind)) != 0)
			add((enum tfs_op_kind)kind, (uint8_t)i);
	return kinds;
}

/* What is held back is still to be carried out. */
void tfs_rewrite_ops_finish(void)
{
	__atomic_store_n(&allowed, 0, __ATOMIC_RELAXED);
	__atomic_fetch_and(&tfs_rewrites_wanting, followed, __ATOMIC_RELAXED);
}

/* A hint for hooks, which look again at what it stands for. */
void tfs_rewrite_offer(void)
{
	static struct tfs_spin lock;

	tfs_spin_lock(&lock);
	if ((acted & TFS_OP_BIT(TFS_OP_COPY)) != 0 && tfs_windows_rewrites() &&
		__atomic_load_n(&allowed, __ATOMIC_RELAXED) != 0)
		__atomic_fetch_or(&tfs_wanted, TFS_WANT_COPIES, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_COPIES, __ATOMIC_RELAXED);
	tfs_spin_unlock(&lock);
}

/* Rewrites that are not switched off at this step, by bit. */
static inline uint32_t switched_on(void)
{
	const uint32_t on =
		tfs_windows_rewrites() ? __atomic_load_n(&tfs_measure_on, __ATOMIC_RELAXED) : 0;

	return (on | steady) & __atomic_load_n(&allowed, __ATOMIC_RELAXED);
}

/* Is it to hear of the call at all? */
static inline bool hears(struct tfs_op *op, uint8_t i, uint32_t on)
{
	op->may_act = (on >> i & 1) != 0 && atomic_load_explicit(&tfs_rewrite_mode_of[i],
						    memory_order_relaxed) != TFS_MODE_OFF;
	return op->may_act || (tfs_rewrite_all[i]->follows & TFS_OP_BIT(op->kind)) != 0;
}

/* Its answer, and as if it minded; that counts only if it does. */
static inline enum tfs_answer ask(struct tfs_op *op, uint8_t i, uint32_t on)
{
	if (!hears(op, i, on))
		return TFS_LEAVES;
	op->minded = (uint16_t)(1u << i);
	return tfs_rewrite_all[i]->before(op);
}

static __attribute__((noinline)) enum tfs_answer ask_each(struct tfs_op *op)
{
	const uint32_t on = switched_on();
	enum tfs_answer answer = TFS_LEAVES;
	uint16_t minded = 0;

	for (uint8_t at = 0; at < asked[op->kind].count && answer != TFS_DONE; at++) {
		answer = ask(op, asked[op->kind].rewrites[at], on);
		minded |= answer == TFS_MINDS ? op->minded : 0;
	}
	op->minded = minded;
	return answer == TFS_DONE ? TFS_DONE : minded != 0 ? TFS_MINDS : TFS_LEAVES;
}

/* Hot: most copies are refused. */
enum tfs_answer tfs_rewrite_ask(struct tfs_op *op)
{
	if (TFS_UNLIKELY(asked[op->kind].count != 1))
		return ask_each(op);
	return ask(op, asked[op->kind].rewrites[0], switched_on());
}

bool tfs_rewrite_before(struct tfs_op *op)
{
	const int saved = errno;
	const enum tfs_answer answer = tfs_rewrite_ask(op);

	if (answer != TFS_MINDS)
		op->minded = 0;
	errno = saved;
	return answer == TFS_DONE;
}

/* The last one that was asked has changed the call as the others left it, and is told first. */
bool tfs_rewrite_after(struct tfs_op *op)
{
	const int saved = errno;
	bool again = false;

	for (uint8_t at = asked[op->kind].count; at-- > 0 && !again;) {
		const uint8_t i = asked[op->kind].rewrites[at];

		if ((op->minded >> i & 1) != 0)
			again = tfs_rewrite_all[i]->after(op);
	}
	errno = saved;
	return again;
}

void tfs_rewrite_tell(struct tfs_op *op)
{
	const int saved = errno;
	const uint32_t on = switched_on();

	for (uint8_t at = 0; at < asked[op->kind].count; at++)
		if (hears(op, asked[op->kind].rewrites[at], on))
			tfs_rewrite_all[asked[op->kind].rewrites[at]]->event(op);
	errno = saved;
}

void tfs_rewrite_call(const struct tfs_function *function)
{
	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_FILLS) != 0)
		tfs_rewrite_tell(&(struct tfs_op){.kind = TFS_OP_OTHER, .function = function});
}

void tfs_rewrite_submitted(const struct tfs_function *function, const struct tfs_details *details)
{
	tfs_rewrite_tell(
		&(struct tfs_op){.kind = TFS_OP_MADE, .function = function, .details = details});
}
