/* SPDX-License-Identifier: MIT */
#include "shim/steps.h"

#include <math.h>
#include <sys/mman.h>

#include "rules/rewrites/measure.h"
#include "rules/rewrites/rewrite.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/log.h"
#include "shim/loops.h"
#include "shim/nvtx.h"
#include "shim/spin.h"
#include "shim/windows.h"

#define PACKED 200u               /* step times kept back before they are written */
#define SEARCH_CALLS (1u << 20)   /* after so many calls the search is given up, */
#define HOPELESS_CALLS (1u << 18) /* or after so many without anything like a weight */

static struct tfs_loops *loops;
static struct tfs_thread *owner; /* the thread whose loop is the step's */
static uint32_t strange_calls;   /* of other threads since the owner's last */
static uint32_t patience = 64;   /* how many of these there may be */
static _Atomic bool feeding;
static _Atomic uint64_t calls_searched;
static _Atomic bool found;
static _Atomic uint64_t current; /* running step, 0 = none */
static _Atomic uint64_t last_index;
static uint64_t last_start;
static _Atomic uint32_t source = TFS_STEP_LOOPS; /* enum tfs_step_source */
static const struct tfs_self *_Atomic declarer;  /* the thread that says where steps begin */
static _Atomic bool marking; /* the step, and all that turns with it, is one thread's; only tried */
static uint64_t last_start_ns; /* for the rewrites' measurement; 0 = the row was broken */
static uint64_t last_amount;   /* of the thread's calls, then */
static _Atomic enum tfs_phase phase = TFS_PHASE_WARMUP;
static struct {
	uint64_t ticks; /* where calls from unknown places began; 0 = nowhere */
	uint32_t site;
} stretch;
static struct tfs_spin pending_lock;
static struct {
	struct tfs_steps_record record;
	float ticks[PACKED];
} pending;

static struct tfs_thread *owner_now(void)
{
	return __atomic_load_n(&owner, __ATOMIC_RELAXED);
}

void tfs_steps_start(void)
{
	/* Pages, not the heap: most are given back where the search is over. */
	void *memory = mmap(NULL, tfs_loops_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED || tfs_options.record == TFS_RECORD_NONE)
		return;
	loops = tfs_loops_init(memory);
	__atomic_fetch_or(&tfs_wanted, TFS_WANT_STEPS, __ATOMIC_RELAXED);
}

static void write_pending(void)
{
	if (pending.record.count == 0)
		return;
	tfs_recorder_put(&pending, TFS_RECORD_steps,
		sizeof(pending.record) + pending.record.count * sizeof(float));
	pending.record.count = 0;
}

static void put_mark(uint64_t index, uint64_t ticks, uint32_t site, uint32_t flags)
{
	const struct tfs_step_record record = {
		.phase = (uint16_t)phase,
		.site = site,
		.start_ticks = ticks,
		.index = index,
		.source = atomic_load_explicit(&source, memory_order_relaxed),
		.flags = flags,
	};

	tfs_recorder_put(&record, TFS_RECORD_step, sizeof(record));
}

/* A step that ran outside windows is one float among others. */
static void pack(uint64_t index, uint64_t start, uint64_t end, uint32_t flags)
{
	struct tfs_steps_record *record = &pending.record;

	tfs_spin_lock(&pending_lock);
	if (record->count == PACKED || record->flags != flags ||
		record->first_index + record->count != index)
		write_pending();
	if (record->count == 0) {
		record->first_index = index;
		record->first_start_ticks = start;
		record->flags = flags;
	}
	pending.ticks[record->count++] = (float)(end - start);
	tfs_spin_unlock(&pending_lock);
}

static void flag_cache(struct tfs_thread *thread)
{
	for (uint32_t i = 0; i < TFS_CACHE_ENTRIES; i++) {
		struct tfs_cache_entry *entry = &thread->cache.entries[i];

		if (entry->address != 0)
			entry->flags |= tfs_steps_site_flags(entry->site);
	}
}

static void stop_search(enum tfs_fact_code what)
{
	__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_STEPS, __ATOMIC_RELAXED);
	tfs_recorder_fact(what, NULL, calls_searched, 0);
	tfs_log(TFS_LOG_INFO, "training step: %s",
		what == TFS_FACT_steps_none ? "none found" : "found");
}

/* Is it this thread's calls that are searched? At first of the thread that calls first; but where
 * that one only prepared the ground and is silent, the search begins anew with the next. Threads
 * that take turns soon outlast each other's patience. */
static bool is_searched(struct tfs_thread *thread)
{
	if (owner != thread && owner != NULL) {
		if (++strange_calls < patience)
			return false;
		tfs_loops_restart(loops);
		patience *= patience < SEARCH_CALLS ? 2 : 1;
	}
	__atomic_store_n(&owner, thread, __ATOMIC_RELAXED);
	strange_calls = 0;
	return true;
}

/* Whole pages of it; failing that, they stay. */
static void release_log(void)
{
	const uint64_t page = 4096, kept = (tfs_loops_kept_bytes() + page - 1) / page * page;

	madvise((char *)loops + kept, tfs_loops_bytes() - kept, MADV_DONTNEED);
}

static void search(const struct tfs_frame *frame, const struct tfs_details *details)
{
	struct tfs_loops_operand operands[24];
	const uint64_t *frames;
	uint32_t count = 0;

	if (atomic_load(&found) || !is_searched(frame->thread))
		return;
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
	if (tfs_nvtx_feed(frame->entry->site, operands, count)) {
		stop_search(TFS_FACT_steps_found);
		return;
	}
	/* Without its callers a call seems to come from elsewhere. */
	if ((frame->entry->flags & TFS_SITE_SHORT) != 0)
		return;
	const uint32_t depth = tfs_callsite_frames(frame->entry->site, &frames);
	if (tfs_loops_feed(loops, frame->entry->site, frames, depth, operands, count)) {
		atomic_store(&found, true);
		flag_cache(frame->thread);
		release_log();
		tfs_recorder_fact(TFS_FACT_steps_warmup, NULL, tfs_loops_before(loops), 0);
		stop_search(TFS_FACT_steps_found);
	} else if (++calls_searched == SEARCH_CALLS ||
		   (calls_searched == HOPELESS_CALLS && tfs_loops_hopeless(loops))) {
		stop_search(TFS_FACT_steps_none);
		tfs_windows_without_steps();
	}
}

void tfs_steps_feed(const struct tfs_frame *frame, const struct tfs_details *details)
{
	/* A call made at the same moment as another thread's is not worth a wait. */
	if (loops == NULL || atomic_exchange_explicit(&feeding, true, memory_order_acquire))
		return;
	search(frame, details);
	atomic_store_explicit(&feeding, false, memory_order_release);
}

uint16_t tfs_steps_site_flags(uint32_t site)
{
	const uint64_t *frames;

	if (!atomic_load_explicit(&found, memory_order_acquire) || tfs_self.owned != owner_now() ||
		atomic_load(&source) != TFS_STEP_LOOPS)
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

/* Came the call before this one from the same place in the step's loop? */
static bool is_same_place(const struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	const uint64_t *one;
	const uint64_t *other;

	if (thread->latest == NULL)
		return false;
	const uint32_t one_depth = tfs_callsite_frames(entry->site, &one);
	const uint32_t other_depth = tfs_callsite_frames(thread->latest->site, &other);
	return one_depth > 0 && other_depth > 0 &&
	       tfs_loops_same_place(loops, one, one_depth, other, other_depth);
}

static void close_step(uint64_t ticks)
{
	const uint64_t index = atomic_load_explicit(&current, memory_order_relaxed);

	if (index != 0 && !tfs_windows_open())
		pack(index, last_start, ticks, tfs_windows_step_flags());
}

/* Training stops here for a while: what follows up to the next step is something else. */
static void leave_training(uint64_t ticks, uint32_t site)
{
	if (phase != TFS_PHASE_TRAINING)
		return;
	close_step(ticks);
	last_start_ns = 0;
	phase = TFS_PHASE_OTHER;
	atomic_store(&current, 0);
	put_mark(last_index, ticks, site, 0);
}

/* Calls from unknown places that run on to the end of the step were not part of it. */
static bool in_stretch(const struct tfs_thread *thread)
{
	return stretch.ticks != 0 && thread->latest != NULL &&
	       (thread->latest->flags & TFS_SITE_UNKNOWN) != 0;
}

/* A step that another one follows at once tells rewrites how long it took. */
static void measure_step(void)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const uint64_t amount = tfs_self.owned != NULL ? tfs_self.owned->amount : 0;

	if (last_start_ns != 0 && tfs_windows_rewrites())
		tfs_rewrite_step(now_ns - last_start_ns, amount - last_amount);
	last_start_ns = now_ns;
	last_amount = amount;
}

static void open_step(uint64_t ticks, uint32_t site)
{
	const bool resumed = phase != TFS_PHASE_TRAINING;

	phase = TFS_PHASE_TRAINING;
	last_start = ticks;
	atomic_store(&current, ++last_index);
	tfs_windows_step(last_index);
	if (tfs_windows_open() || resumed)
		put_mark(last_index, ticks, site, tfs_windows_step_flags());
}

static void mark(const struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	const uint64_t ticks = tfs_clock_ticks();

	if (atomic_load(&source) != TFS_STEP_LOOPS)
		return;
	if ((entry->flags & TFS_SITE_UNKNOWN) != 0) {
		if (!in_stretch(thread)) {
			stretch.ticks = ticks;
			stretch.site = entry->site;
		}
		return;
	}
	if ((entry->flags & TFS_SITE_OUTSIDE) == 0 && is_same_place(thread, entry))
		return;
	if (in_stretch(thread)) {
		tfs_measure_interrupt();
		leave_training(stretch.ticks, stretch.site);
	}
	stretch.ticks = 0;
	if ((entry->flags & TFS_SITE_OUTSIDE) != 0) {
		tfs_measure_interrupt();
		leave_training(ticks, entry->site);
		return;
	}
	close_step(ticks);
	measure_step();
	open_step(ticks, entry->site);
}

void tfs_steps_mark(struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	/* Where another thread is just taking the steps over, this one is no longer theirs. */
	if (thread != owner_now() || atomic_exchange(&marking, true))
		return;
	mark(thread, entry);
	atomic_store(&marking, false);
}

/* TFS_STEP_API goes before TFS_STEP_NVTX, that before TFS_STEP_LOOPS. */
static bool is_better(uint32_t one, uint32_t other)
{
	return other == TFS_STEP_LOOPS ? one != other
				       : one == TFS_STEP_API && other == TFS_STEP_NVTX;
}

/* Takes the steps over from a lesser source; the next mark is then written in any case. */
static bool may_declare(enum tfs_step_source from, uint64_t ticks, uint32_t site)
{
	uint32_t now = atomic_load(&source);

	if (!is_better(from, now))
		return from == now && atomic_load(&declarer) == &tfs_self;
	if (!atomic_compare_exchange_strong(&source, &now, from))
		return false;
	atomic_store(&declarer, &tfs_self);
	atomic_store(&found, true);
	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_STEPS) != 0)
		stop_search(from == TFS_STEP_API ? TFS_FACT_steps_told : TFS_FACT_steps_found);
	tfs_measure_interrupt();
	leave_training(ticks, site);
	return true;
}

static void declare(enum tfs_step_source from, uint64_t ticks, uint64_t caller, bool begins)
{
	if (tfs_options.record == TFS_RECORD_NONE || loops == NULL)
		return;
	/* Only while one source takes over from another can two threads be here. */
	if (atomic_exchange(&marking, true)) {
		tfs_recorder_lost(TFS_LOSS_steps_dropped, 1);
		return;
	}
	const uint32_t site = tfs_callsite_single(caller);
	if (may_declare(from, ticks, site)) {
		if (begins) {
			close_step(ticks);
			measure_step();
			open_step(ticks, site);
		} else {
			if (phase == TFS_PHASE_TRAINING)
				measure_step();
			leave_training(ticks, site);
		}
	}
	atomic_store(&marking, false);
}

void tfs_steps_begin(enum tfs_step_source from, uint64_t ticks, uint64_t caller)
{
	declare(from, ticks, caller, true);
}

void tfs_steps_end(enum tfs_step_source from, uint64_t ticks, uint64_t caller)
{
	declare(from, ticks, caller, false);
}

bool tfs_steps_is_owner(void)
{
	return tfs_self.owned != NULL && tfs_self.owned == owner_now();
}

uint64_t tfs_steps_now(void)
{
	return atomic_load_explicit(&current, memory_order_relaxed);
}

uint64_t tfs_steps_count(void)
{
	return atomic_load_explicit(&last_index, memory_order_relaxed);
}

void tfs_steps_finish(void)
{
	if (atomic_load(&current) != 0)
		put_mark(last_index, tfs_clock_ticks(), 0, 0);
	tfs_spin_lock(&pending_lock);
	write_pending();
	tfs_spin_unlock(&pending_lock);
	if (!atomic_load(&found))
		tfs_recorder_fact(TFS_FACT_steps_none, NULL, calls_searched, 0);
}
