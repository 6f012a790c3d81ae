/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_known.h"

#include <string.h>

#include "shim/base/spin.h"

#define SLOTS 1024u /* twice as many as there may be problems: a probe always ends */

enum {
	STATE_DECIDING,
	STATE_OVERTAKEN, /* being decided, and run as asked meanwhile */
	STATE_DECIDED,
	STATE_LATE /* decided after it was run as asked: left alone */
};

static struct tfs_known known[TFS_KNOWN_MOST];
static _Atomic uint32_t known_count;
static _Atomic(struct tfs_known *) slots[SLOTS];
static struct tfs_spin lock;

static uint32_t slot_of(uint32_t machine, const struct tfs_problem *problem)
{
	uint64_t hash = machine;

	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT; i++)
		hash = (hash ^ (uint32_t)problem->fields[i]) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(hash >> 54);
}

/* The problem's own slot, or the empty one where it would go. */
static uint32_t probe(uint32_t machine, const struct tfs_problem *problem)
{
	uint32_t at = slot_of(machine, problem);

	for (;; at = (at + 1) % SLOTS) {
		const struct tfs_known *one =
			atomic_load_explicit(&slots[at], memory_order_acquire);

		if (!one || (one->machine == machine &&
				    memcmp(&one->problem, problem, sizeof(*problem)) == 0))
			return at;
	}
}

struct tfs_known *tfs_known_find(uint32_t machine, const struct tfs_problem *problem)
{
	return atomic_load_explicit(&slots[probe(machine, problem)], memory_order_acquire);
}

static void set(struct tfs_known *one, const struct tfs_decision *decision)
{
	if (!decision)
		return;
	one->own = *decision;
	one->decision = &one->own;
}

struct tfs_known *tfs_known_add(uint32_t machine, const struct tfs_problem *problem, bool in_list,
	bool decided, const struct tfs_decision *decision)
{
	struct tfs_known *one = NULL;

	tfs_spin_lock(&lock);
	const uint32_t at = probe(machine, problem);
	const uint32_t count = atomic_load(&known_count);
	if (!atomic_load(&slots[at]) && count < TFS_KNOWN_MOST) {
		one = &known[count];
		one->problem = *problem;
		one->machine = machine;
		one->in_list = in_list;
		set(one, decision);
		atomic_store(&one->state, decided ? STATE_DECIDED : STATE_DECIDING);
		atomic_store_explicit(&slots[at], one, memory_order_release);
		atomic_store(&known_count, count + 1);
	}
	tfs_spin_unlock(&lock);
	return one;
}

bool tfs_known_decide(struct tfs_known *one, const struct tfs_decision *decision)
{
	int state = STATE_DECIDING;

	set(one, decision);
	if (atomic_compare_exchange_strong(&one->state, &state, STATE_DECIDED))
		return true;
	atomic_store(&one->state, STATE_LATE);
	return false;
}

bool tfs_known_overtaken(const struct tfs_known *one)
{
	return atomic_load(&one->state) == STATE_OVERTAKEN;
}

bool tfs_known_settled(struct tfs_known *one)
{
	int state = atomic_load_explicit(&one->state, memory_order_acquire);

	if (state == STATE_DECIDING)
		atomic_compare_exchange_strong(&one->state, &state, STATE_OVERTAKEN);
	return state == STATE_DECIDED;
}

uint32_t tfs_known_count(void)
{
	return atomic_load(&known_count);
}

const struct tfs_known *tfs_known_at(uint32_t i)
{
	return &known[i];
}
