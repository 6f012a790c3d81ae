/* SPDX-License-Identifier: MIT */
/* Calls that are about to be made, and rewrites that want them. */
#include "shim/rewrites/rewrite_ops.h"

#include <errno.h>

#include "shim/record/op.h"
#include "shim/rewrites/rewrite_ledger.h"

uint32_t tfs_rewrites_wanting;

/* By kind: rewrites, by number, in the order of their priorities. */
static struct {
	uint8_t count;
	uint8_t rewrites[TFS_REWRITES_MOST];
} asked[TFS_OP_KINDS];

static uint32_t followed; /* kinds */
static bool over;         /* relaxed atomic */

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
	const uint32_t kinds = tfs_rewrite_all[i]->acts | tfs_rewrite_all[i]->follows;

	followed |= tfs_rewrite_all[i]->follows;
	for (uint32_t kind = 0; kind < TFS_OP_KINDS; kind++)
		if ((kinds & TFS_OP_BIT(kind)) != 0)
			add((enum tfs_op_kind)kind, (uint8_t)i);
	return kinds;
}

/* What is held back is still to be carried out. */
void tfs_rewrite_ops_finish(void)
{
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	__atomic_fetch_and(&tfs_rewrites_wanting, followed, __ATOMIC_RELAXED);
}

bool tfs_rewrite_before(struct tfs_op *op)
{
	const int saved = errno;
	bool done = false;

	for (uint8_t at = 0; at < asked[op->kind].count && !done; at++) {
		const uint8_t i = asked[op->kind].rewrites[at];
		const struct tfs_rewrite *rewrite = tfs_rewrite_all[i];

		op->may_act =
			!__atomic_load_n(&over, __ATOMIC_RELAXED) && tfs_rewrite_takes_part(i);
		if (!op->may_act && (rewrite->follows & TFS_OP_BIT(op->kind)) == 0)
			continue;
		const enum tfs_answer answer = rewrite->before(op);
		if (answer == TFS_MINDS)
			op->minded |= (uint16_t)(1u << i);
		done = answer == TFS_DONE;
	}
	errno = saved;
	return done;
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
