/* SPDX-License-Identifier: MIT */
/*
 * pool-threshold: a stream-ordered pool whose release threshold is 0, as CUDA makes it, unmaps its
 * memory whenever the host waits and maps it again at the next cudaMallocAsync. This sets the
 * threshold so that the pool keeps what the program needs in each step. Only on when it is named.
 *
 * Contract (exact: the same bits; the pool itself decides what it hands out, as before):
 * - Only the current device's default pool, and pools of it that the program made in sight and
 *   shares with no other process; never one whose threshold the program has set.
 * - The pool keeps as much as it was seen to hold, and only where the device then still has 1 GiB
 *   truly free, or a tenth of it if that is more: libraries allocate for themselves.
 * - To the program nothing is kept: asked for its threshold, a pool answers 0; before free memory
 *   or what a pool holds is told, before an out-of-memory is reported, and before a search of
 *   cuDNN's that brings its own memory, the memory is given back. (The driver does not do that by
 *   itself for cudaMalloc.) After an out-of-memory the device's pools keep nothing for the rest of
 *   the run.
 * - Another process on the device finds less free memory than it would, by what the pools keep,
 *   until less than that is truly free; then it is given back at the program's next allocation, or
 *   wait of the host.
 * - Off, it sets the threshold back to 0, and the next wait gives the memory back; also where the
 *   device is reset.
 * - Only after evidence: at a call site and size the pool had to be given back, as its own count
 *   shows, and the threshold could be set and set back with nobody else's value found in it. A
 *   value that is not the program's switches the rewrite off.
 *
 * Its own model of the gain per call: the least that an allocation took from a pool that had given
 * its memory back, less what this one took.
 */
#include <stdio.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/pools.h"

#define POOLS 32u
#define LOOK_NS UINT64_C(100000000) /* how long free memory is taken to be what it was */

/* Mutants: what the contract forbids. */
#define NAIVE_OVERRIDE (1u << 27) /* the program's own threshold does not count */
#define NAIVE_MEDDLED (1u << 28)  /* a value of somebody else's is found */

enum check {
	CHECK_FUNCTIONS = TFS_CHECK_runtime_stays,
	CHECK_CAPTURE = TFS_CHECK_not_capturing,
	CHECK_ERROR = TFS_CHECK_no_error_waiting,
	CHECK_DEVICES = TFS_CHECK_one_device,
	CHECK_KNOWN = TFS_CHECK_known_pool,
	CHECK_SHARED = TFS_CHECK_not_shared,
	CHECK_UNSET = TFS_CHECK_threshold_unset,
	CHECK_GIVES_BACK = TFS_CHECK_gives_back,
	CHECK_MEMORY = TFS_CHECK_memory_left,
	CHECK_EVIDENCE = TFS_CHECK_shadow_evidence,
	CHECK_KEPT = TFS_CHECK_threshold_kept,
};

extern const struct tfs_rewrite tfs_rewrite_pool_threshold;
#define SELF (&tfs_rewrite_pool_threshold)

/* How much a pool has been seen to hold. */
static struct seen {
	const void *pool;
	uint32_t number; /* see pools.h */
	uint64_t most;
	uint64_t looked_ns; /* at the device's free memory, while it kept */
} seen[POOLS];
static uint32_t seen_count;
static struct tfs_spin lock;
static struct tfs_evidence evidence;
static _Atomic uint64_t mapping_ns; /* the least; 0 = not known */

/* NULL: too many. The lock is held. */
static struct seen *seen_of(const struct tfs_op *op)
{
	uint32_t i = 0;

	while (i < seen_count && seen[i].pool != op->ordered.pool)
		i++;
	if (i == POOLS)
		return NULL;
	if (i == seen_count || seen[i].number != op->ordered.number)
		seen[i] = (struct seen){.pool = op->ordered.pool, .number = op->ordered.number};
	seen_count += i == seen_count;
	return &seen[i];
}

static uint64_t most_of(const struct tfs_op *op)
{
	tfs_spin_lock(&lock);
	const struct seen *one = seen_of(op);
	const uint64_t most = one ? one->most : 0;
	tfs_spin_unlock(&lock);
	return most;
}

static void note_held(const struct tfs_op *op, uint64_t bytes)
{
	tfs_spin_lock(&lock);
	struct seen *one = seen_of(op);
	if (one && bytes > one->most)
		one->most = bytes;
	tfs_spin_unlock(&lock);
}

/* Every so often. */
static bool is_time(const struct tfs_op *op)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	bool due = false;

	tfs_spin_lock(&lock);
	struct seen *one = seen_of(op);
	if (one && now_ns - one->looked_ns > LOOK_NS) {
		due = true;
		one->looked_ns = now_ns;
	}
	tfs_spin_unlock(&lock);
	return due;
}

/* Would enough stay truly free if so much more were kept? */
static bool leaves_enough(
	const struct tfs_memory_functions *memory, const struct tfs_op *op, uint64_t more)
{
	size_t free_bytes, all;

	if (tfs_reserves_short(op->ordered.device))
		return false;
	if (memory->info(&free_bytes, &all) != 0) {
		memory->forget_error();
		return false;
	}
	const uint64_t least = all / 10 > tfs_options.pool_reserve_bytes
				       ? all / 10
				       : tfs_options.pool_reserve_bytes;
	return free_bytes >= least && free_bytes - least >= more;
}

/* The pool that the call names or implies; NULL: cannot be told. */
static void *pool_of(const struct tfs_pool_functions *use,
	const struct tfs_memory_functions *memory, const struct tfs_op *op)
{
	void *pool = op->ordered.pool;

	if (!pool && use->current(&pool, (int)op->ordered.device) != 0) {
		memory->forget_error();
		return NULL;
	}
	return pool;
}

static bool is_known(const struct tfs_pool_functions *use,
	const struct tfs_memory_functions *memory, const struct tfs_op *op,
	const struct tfs_pool_known *known)
{
	void *standard = NULL;

	if (!op->ordered.pool || tfs_pools_full())
		return false;
	if (known->created)
		return known->device == (int)op->ordered.device;
	if (use->standard(&standard, (int)op->ordered.device) != 0)
		memory->forget_error();
	return op->ordered.pool == standard;
}

static bool may_keep(const struct tfs_pool_functions *use,
	const struct tfs_memory_functions *memory, struct tfs_op *op)
{
	const uint32_t site = op->site;
	struct tfs_pool_known known;

	if (!tfs_rewrite_check(SELF, CHECK_FUNCTIONS, use && memory, site) ||
		!tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site) ||
		!tfs_rewrite_check(SELF, CHECK_ERROR, !memory->error_waits(), site) ||
		!tfs_rewrite_check(
			SELF, CHECK_DEVICES, !tfs_memory_any_elsewhere(op->ordered.device), site))
		return false;
	op->ordered.pool = pool_of(use, memory, op);
	tfs_pools_find(op->ordered.pool, &known);
	op->ordered.number = known.number;
	return tfs_rewrite_check(SELF, CHECK_KNOWN, is_known(use, memory, op, &known), site) &&
	       tfs_rewrite_check(SELF, CHECK_SHARED, !known.shareable, site) &&
	       tfs_rewrite_check(
		       SELF, CHECK_UNSET, !known.is_set || TFS_MUTANT(NAIVE_OVERRIDE), site);
}

/* Sets the threshold and sets it back: is it ours to set? */
static void try_out(const struct tfs_pool_functions *use, const struct tfs_memory_functions *memory,
	const struct tfs_op *op, uint64_t bytes)
{
	uint64_t before = 0, during = 0, after = 0, none = 0;

	const bool good = use->get(op->ordered.pool, TFS_POOL_THRESHOLD, &before) == 0 &&
			  before == 0 && !TFS_MUTANT(NAIVE_MEDDLED) &&
			  use->set(op->ordered.pool, TFS_POOL_THRESHOLD, &bytes) == 0 &&
			  use->get(op->ordered.pool, TFS_POOL_THRESHOLD, &during) == 0 &&
			  use->set(op->ordered.pool, TFS_POOL_THRESHOLD, &none) == 0 &&
			  use->get(op->ordered.pool, TFS_POOL_THRESHOLD, &after) == 0;
	if (good && during == bytes && after == 0) {
		tfs_evidence_clean(&evidence, op->site, op->ordered.bytes);
		return;
	}
	memory->forget_error();
	tfs_evidence_spoiled(&evidence, op->site, op->ordered.bytes);
	const struct tfs_reason evidence_against = {
		.code = TFS_REASON_threshold_strange, .numbers = {before != 0 ? before : during}};
	tfs_rewrite_differs(SELF, op->site, &evidence_against);
}

static void begin(const struct tfs_memory_functions *memory, const struct tfs_op *op, uint64_t most)
{
	if (tfs_rewrite_check(SELF, CHECK_KEPT,
		    tfs_reserves_keep(op->driver, op->ordered.pool, op->ordered.device, most),
		    op->site))
		tfs_rewrite_acted(SELF, op->ordered.bytes);
	else
		memory->forget_error();
}

/* The pool does not keep its memory yet. */
static void consider(const struct tfs_pool_functions *use,
	const struct tfs_memory_functions *memory, struct tfs_op *op)
{
	const uint64_t most = most_of(op);
	uint64_t held = 0;

	if (use->get(op->ordered.pool, TFS_POOL_RESERVED, &held) != 0) {
		memory->forget_error();
		return;
	}
	note_held(op, held);
	op->ordered.held = held;
	op->ordered.start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	if (!tfs_rewrite_check(SELF, CHECK_GIVES_BACK, held < most, op->site) ||
		!tfs_rewrite_check(
			SELF, CHECK_MEMORY, leaves_enough(memory, op, most - held), op->site))
		return;
	if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW) {
		tfs_rewrite_shadow(SELF, op->ordered.bytes);
		try_out(use, memory, op, most);
	} else if (tfs_rewrite_mode(SELF) == TFS_MODE_APPLY) {
		if (!tfs_rewrite_check(SELF, CHECK_EVIDENCE,
			    tfs_evidence_enough(&evidence, op->site, op->ordered.bytes), op->site))
			try_out(use, memory, op, most);
		else if (tfs_rewrite_may_act(SELF))
			begin(memory, op, most);
	}
}

/* The pool keeps its memory. Does it need more, may it go on? */
static void go_on(const struct tfs_memory_functions *memory, struct tfs_op *op)
{
	const bool due = is_time(op);
	const uint64_t most = most_of(op);

	if (due && !tfs_rewrite_check(SELF, CHECK_MEMORY, leaves_enough(memory, op, 0), op->site)) {
		tfs_reserves_give_back(op->driver, op->ordered.device);
		tfs_reserves_drop(op->driver, op->ordered.device);
		return;
	}
	if (due && most > tfs_reserves_kept(op->ordered.pool))
		tfs_reserves_keep(op->driver, op->ordered.pool, op->ordered.device, most);
	op->ordered.kept = true;
	op->ordered.start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	tfs_rewrite_acted(SELF, op->ordered.bytes);
}

static void look(struct tfs_op *op)
{
	const struct tfs_pool_functions *use = tfs_pool_functions(op->driver);
	const struct tfs_memory_functions *memory = tfs_memory_functions(op->driver);

	if (!op->may_act) {
		tfs_reserves_drop(op->driver, op->ordered.device);
		return;
	}
	if (!may_keep(use, memory, op))
		return;
	if (tfs_reserves_kept(op->ordered.pool) != 0)
		go_on(memory, op);
	else
		consider(use, memory, op);
}

static enum tfs_answer before(struct tfs_op *op)
{
	look(op);
	return op->ordered.start_ns != 0 ? TFS_MINDS : TFS_LEAVES;
}

static void note_mapping(uint64_t ns)
{
	uint64_t least = atomic_load(&mapping_ns);

	while ((least == 0 || ns < least) && !atomic_compare_exchange_weak(&mapping_ns, &least, ns))
		continue;
}

static void learn(const struct tfs_op *op)
{
	const uint64_t took_ns = tfs_clock_ns(CLOCK_MONOTONIC) - op->ordered.start_ns;
	const struct tfs_pool_functions *use = tfs_pool_functions(op->driver);
	const struct tfs_memory_functions *memory = tfs_memory_functions(op->driver);
	const uint64_t least = atomic_load(&mapping_ns);
	uint64_t held = 0;

	if (use->get(op->ordered.pool, TFS_POOL_RESERVED, &held) != 0) {
		memory->forget_error();
		return;
	}
	note_held(op, held);
	if (!op->ordered.kept && held > op->ordered.held)
		note_mapping(took_ns);
	if (op->ordered.kept && least != 0)
		tfs_rewrite_predict_call(SELF, (double)least - (double)took_ns);
}

static bool after(struct tfs_op *op)
{
	if (op->status == 0)
		learn(op);
	return false;
}

static void reset(const struct tfs_op *op)
{
	(void)op;
	tfs_spin_lock(&lock);
	seen_count = 0;
	tfs_spin_unlock(&lock);
}

const struct tfs_rewrite tfs_rewrite_pool_threshold = {
	.name = "pool-threshold",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS408",
	.switchable = true,
	.by_name = true,
	.compares = true,
	.priority = 50,
	.follows = TFS_OP_BIT(TFS_OP_ORDERED) | TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.after = after,
	.event = reset,
};
