/* SPDX-License-Identifier: MIT */
#include "shim/steps/steps_search.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/details.h"
#include "shim/steps/loops/loops.h"
#include "shim/steps/step_listeners.h"
#include "shim/steps/steps.h"
#include "shim/steps/steps_candidates.h"
#include "shim/steps/steps_graphs.h"
#include "shim/steps/windows.h"

#define OPERANDS 24u              /* of a call, at most */
#define SEARCH_CALLS (1u << 20)   /* after so many calls the search is given up, */
#define SECOND_CALLS (1u << 18)   /* of something else, that are searched at most */
#define HOPELESS_CALLS (1u << 18) /* or after so many without anything like a weight; */
#define LAST_LOOK (1u << 12)      /* and some more, if the loop with most calls is not yet clear: */
#define LAST_LOOKS 4u             /* so often it is looked for again, */
#define LEAST_LOGGED (1u << 12)   /* and only in a log of so many: less may be an inner loop's */
#define LEADER_PART 5u            /* one call in so many is the first thread's, where it leads */

static struct tfs_loops *loops;        /* with the step */
static struct tfs_thread *owner;       /* the thread whose loop is the step's, or may be */
static _Atomic uint32_t strange_calls; /* of other threads since the owner's last */
static _Atomic uint32_t patience = 64; /* how many of these there may be */
static _Atomic bool found;
static _Atomic uint64_t graph_work; /* that was logged: it costs as calls do */
static _Atomic uint64_t looks;      /* for the end of the search, in LAST_LOOK; */
static _Atomic uint32_t last_looks; /* when it should have ended */
static struct tfs_loops *second;    /* what is searched while the program does something else */
static uint32_t second_calls;
static _Atomic bool doubtful; /* what was found may be no training */
static _Atomic bool dominant; /* in it no weights are updated at all */

struct tfs_thread *tfs_steps_owner(void)
{
	return __atomic_load_n(&owner, __ATOMIC_RELAXED);
}

bool tfs_steps_found(void)
{
	return atomic_load(&found);
}

bool tfs_steps_doubtful(void)
{
	return atomic_load(&doubtful) && tfs_steps_by_loops();
}

bool tfs_steps_dominant(void)
{
	return atomic_load_explicit(&dominant, memory_order_relaxed) && tfs_steps_by_loops();
}

bool tfs_steps_searchable(void)
{
	return tfs_options.record != TFS_RECORD_NONE && tfs_step_candidates_ready();
}

void tfs_steps_start(void)
{
	if (tfs_options.record == TFS_RECORD_NONE || !tfs_step_candidates_start())
		return;
	__atomic_fetch_or(&tfs_wanted, TFS_WANT_STEPS, __ATOMIC_RELAXED);
}

static void flag(struct tfs_cache_entry *entry)
{
	if (entry->address != 0 && !__atomic_load_n(&entry->function->aside, __ATOMIC_RELAXED))
		entry->flags = (uint16_t)(entry->flags & ~TFS_SITE_STEP) |
			       tfs_steps_site_flags(entry->site);
}

static void flag_cache(struct tfs_thread *thread)
{
	for (uint32_t i = 0; i < TFS_CACHE_ENTRIES; i++)
		flag(&thread->cache.entries[i]);
	flag(&thread->evicted);
}

static void stop_search(enum tfs_fact_code what)
{
	__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_STEPS, __ATOMIC_RELAXED);
	tfs_recorder_fact(what, NULL, tfs_step_candidates_calls(), 0);
	tfs_log(TFS_LOG_INFO, "training step: %s",
		what == TFS_FACT_steps_none ? "none found" : "found");
}

void tfs_steps_settle(enum tfs_fact_code what)
{
	atomic_store(&found, true);
	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_STEPS) != 0)
		stop_search(what);
}

/* Is it this thread's calls that go with the program's ranges? At first of the thread that calls
 * first; but where that one only prepared the ground and is silent, those of the next. Threads that
 * take turns soon outlast each other's patience. */
static bool is_owner(struct tfs_thread *thread)
{
	struct tfs_thread *const now = tfs_steps_owner();

	if (now != thread) {
		const uint32_t patient = atomic_load_explicit(&patience, memory_order_relaxed);

		if (now && atomic_fetch_add_explicit(&strange_calls, 1, memory_order_relaxed) + 1 <
				   patient)
			return false;
		if (now && patient < SEARCH_CALLS)
			atomic_store_explicit(&patience, 2 * patient, memory_order_relaxed);
		__atomic_store_n(&owner, thread, __ATOMIC_RELAXED);
	}
	if (atomic_load_explicit(&strange_calls, memory_order_relaxed) != 0)
		atomic_store_explicit(&strange_calls, 0, memory_order_relaxed);
	return true;
}

/* Whole pages of it; failing that, they stay. */
static void release_log(void)
{
	const uint64_t page = 4096, kept = (tfs_loops_kept_bytes() + page - 1) / page * page;

	madvise((char *)loops + kept, tfs_loops_bytes() - kept, MADV_DONTNEED);
}

static uint32_t list_operands(
	const struct tfs_details *details, struct tfs_loops_operand operands[OPERANDS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < details->count; i++) {
		const struct tfs_item *item = &details->items[i];
		const uint32_t role = TFS_ITEM_ROLE(item);

		if ((role & TFS_ROLE_OPERAND) == 0 || (role & TFS_ROLE_SCRATCH) != 0)
			continue;
		operands[count].address = item->value;
		operands[count].maybe = (role & TFS_ROLE_MAYBE) != 0;
		operands[count].reads = (role & (TFS_ROLE_READ | TFS_ROLE_MAYBE)) != 0;
		operands[count++].writes = (role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE)) != 0;
	}
	return count;
}

static bool is_busiest(const struct tfs_step_candidate *candidate)
{
	return 2 * candidate->calls >= tfs_step_candidates_calls();
}

/* Does it have most of the calls, or is it the program's first thread with a good part of them?
 * That leads the others: PyTorch's has its backward pass done by one that calls more. By its
 * thread. */
static bool is_leader(const struct tfs_step_candidate *candidate)
{
	return is_busiest(candidate) ||
	       (LEADER_PART * candidate->calls >= tfs_step_candidates_calls() &&
		       gettid() == getpid());
}

/* One of several threads found its step first, or something that may be one: that counts where the
 * thread leads. */
static bool is_found(struct tfs_step_candidate *candidate)
{
	static _Atomic bool settled;

	if (tfs_loops_doubtful(candidate->loops) && !is_leader(candidate)) {
		tfs_loops_restart(candidate->loops);
		return false;
	}
	return !atomic_exchange(&settled, true);
}

static void settle(struct tfs_step_candidate *candidate)
{
	loops = candidate->loops;
	__atomic_store_n(&owner, candidate->thread, __ATOMIC_RELAXED);
	atomic_store(&doubtful, tfs_loops_doubtful(loops));
	atomic_store(&dominant, tfs_loops_dominant(loops));
	atomic_store(&found, true);
	flag_cache(candidate->thread);
	release_log();
	tfs_step_candidates_release(loops);
	if (!tfs_loops_doubtful(loops))
		tfs_step_graphs_release();
	tfs_recorder_fact(TFS_FACT_steps_warmup, NULL, tfs_loops_before(loops), 0);
	stop_search(tfs_loops_dominant(loops) ? TFS_FACT_steps_none : TFS_FACT_steps_found);
}

static bool feed(struct tfs_loops *by, const struct tfs_frame *frame,
	const struct tfs_details *details, const struct tfs_loops_operand *operands, uint32_t count)
{
	const uint64_t *frames;
	const uint32_t depth = tfs_callsite_frames(frame->entry->site, &frames);

	if (tfs_loops_feed(by, frame->entry->site, frames, depth, operands, count))
		return true;
	if (frame->entry->function->family != TFS_FAMILY_graph_launch)
		return false;
	atomic_fetch_add_explicit(
		&graph_work, tfs_step_graphs_launched(by, frame, details), memory_order_relaxed);
	return tfs_loops_look(by);
}

/* Now and then, `calls` being 0 in between: should the search have ended? */
static bool is_beyond(const struct tfs_step_candidate *candidate, uint64_t calls)
{
	if (calls == 0)
		return false;
	const uint64_t searched = calls + atomic_load_explicit(&graph_work, memory_order_relaxed);
	const uint64_t look = searched / LAST_LOOK;
	uint64_t before = atomic_load(&looks);
	if (searched < HOPELESS_CALLS || look <= before ||
		!atomic_compare_exchange_strong(&looks, &before, look))
		return false;
	const bool hope =
		!tfs_loops_hopeless(candidate->loops) || tfs_step_candidates_any_hope(candidate);
	const uint64_t limit = hope ? SEARCH_CALLS : HOPELESS_CALLS;
	return searched >= limit;
}

/* Without its callers a call seems to come from elsewhere. */
static void search(const struct tfs_frame *frame, const struct tfs_details *details,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	struct tfs_step_candidate *candidate = (frame->entry->flags & TFS_SITE_SHORT) == 0
						       ? tfs_step_candidate_of(frame->thread)
						       : NULL;

	if (!candidate)
		return;
	const uint64_t searched = tfs_step_candidate_count(candidate);
	const bool beyond = candidate->loops && is_beyond(candidate, searched);

	if (candidate->loops &&
		(feed(candidate->loops, frame, details, operands, count) ||
			(beyond && is_busiest(candidate) &&
				tfs_loops_logged(candidate->loops) >= LEAST_LOGGED &&
				tfs_loops_dominate(candidate->loops))) &&
		is_found(candidate)) {
		settle(candidate);
		return;
	}
	tfs_step_candidate_leave(candidate);
	if (tfs_steps_found())
		tfs_step_candidates_release(loops);
	if (beyond && atomic_fetch_add(&last_looks, 1) >= LAST_LOOKS) {
		stop_search(TFS_FACT_steps_none);
		tfs_windows_without_steps();
	}
}

/* Does a range of the program's say what its step is? */
static bool by_ranges(
	const struct tfs_frame *frame, const struct tfs_loops_operand *operands, uint32_t count)
{
	return is_owner(frame->thread) &&
	       tfs_step_listeners.ranges(frame->entry->site, operands, count);
}

/* The step is another loop's. What the first search had found stays mapped: it is small. */
static void change_loops(struct tfs_thread *thread)
{
	struct tfs_loops *before = loops;

	if (!tfs_steps_anew()) {
		tfs_loops_restart(second);
		return;
	}
	loops = second;
	second = before;
	atomic_store(&doubtful, tfs_loops_doubtful(loops));
	atomic_store(&dominant, tfs_loops_dominant(loops));
	second_calls = SECOND_CALLS;
	flag_cache(thread);
	release_log();
	tfs_recorder_fact(TFS_FACT_steps_warmup, NULL, tfs_loops_before(loops), 0);
	stop_search(TFS_FACT_steps_found);
}

/* Beside a doubtful step: a longer loop in what seems to be no training may be the step. */
static void search_again(const struct tfs_frame *frame, const struct tfs_details *details)
{
	struct tfs_loops_operand operands[OPERANDS];

	uint32_t count = list_operands(details, operands);
	if (tfs_step_graphs_heed(frame, details, operands, count))
		count = 0;
	if (frame->thread != owner || (frame->entry->flags & TFS_SITE_SHORT) != 0)
		return;
	const uint64_t logged = atomic_load(&graph_work);
	if (feed(second, frame, details, operands, count)) {
		if (tfs_loops_prefers(loops, second))
			change_loops(frame->thread);
		else
			tfs_loops_restart(second);
	}
	/* The first search is over: graphs are logged for this one alone. */
	second_calls += 1 + (uint32_t)(atomic_load(&graph_work) - logged);
	if (second_calls >= SECOND_CALLS)
		__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_STEPS, __ATOMIC_RELAXED);
}

void tfs_steps_elsewhere(bool elsewhere)
{
	if (!tfs_steps_doubtful() || second_calls >= SECOND_CALLS)
		return;
	if (!second)
		second = tfs_step_candidates_make_loops();
	if (second && elsewhere)
		__atomic_fetch_or(&tfs_wanted, TFS_WANT_STEPS, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_STEPS, __ATOMIC_RELAXED);
}

void tfs_steps_feed(const struct tfs_frame *frame, const struct tfs_details *details)
{
	struct tfs_loops_operand operands[OPERANDS];

	if (!tfs_steps_searchable())
		return;
	if (tfs_steps_found()) {
		if (second)
			search_again(frame, details);
		return;
	}
	const uint32_t count = list_operands(details, operands);
	const bool graphs = tfs_step_graphs_heed(frame, details, operands, count);
	if (by_ranges(frame, operands, count))
		stop_search(TFS_FACT_steps_found);
	else
		search(frame, details, operands, graphs ? 0 : count);
}

uint16_t tfs_steps_site_flags(uint32_t site)
{
	const uint64_t *frames;

	if (!atomic_load_explicit(&found, memory_order_acquire) ||
		tfs_self.owned != tfs_steps_owner() || !tfs_steps_by_loops())
		return 0;
	const uint32_t depth = tfs_callsite_frames(site, &frames);
	if (depth == 0)
		return 0;
	if (tfs_loops_opens(loops, frames, depth))
		return TFS_SITE_OPENS_STEP;
	if (tfs_loops_outside(loops, frames, depth))
		return TFS_SITE_OUTSIDE;
	return tfs_loops_unknown(loops, frames, depth) ? TFS_SITE_UNKNOWN : 0;
}

bool tfs_steps_same_place(const struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	const uint64_t *one;
	const uint64_t *other;

	if (!thread->latest || (thread->latest->flags & TFS_SITE_OPENS_STEP) == 0)
		return false;
	if (thread->latest->site == entry->site || !tfs_loops_unrolled(loops))
		return true;
	const uint32_t one_depth = tfs_callsite_frames(entry->site, &one);
	const uint32_t other_depth = tfs_callsite_frames(thread->latest->site, &other);
	return one_depth > 0 && other_depth > 0 &&
	       tfs_loops_same_place(loops, one, one_depth, other, other_depth);
}
