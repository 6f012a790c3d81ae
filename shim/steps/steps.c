/* SPDX-License-Identifier: MIT */
#include "shim/steps/steps.h"

#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/steps/step_habits.h"
#include "shim/steps/step_listeners.h"
#include "shim/steps/steps_candidates.h"
#include "shim/steps/steps_search.h"
#include "shim/steps/windows.h"
#include "shim/trace/format/iterations.h"

#define PACKED 200u /* step times kept back before they are written */

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
		.source = tfs_steps_dominant()
				  ? TFS_STEP_ITERATIONS
				  : atomic_load_explicit(&source, memory_order_relaxed),
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
	tfs_steps_elsewhere(true);
}

/* Calls from unknown places that run on to the end of the step were not part of it. */
static bool in_stretch(const struct tfs_thread *thread)
{
	return stretch.ticks != 0 && thread->latest &&
	       (thread->latest->flags & TFS_SITE_UNKNOWN) != 0;
}

static bool is_habit(uint32_t site)
{
	return tfs_step_habits_has(site) && !tfs_steps_doubtful();
}

static void note_habit(uint32_t site)
{
	if (phase != TFS_PHASE_WARMUP)
		tfs_step_habits_note(site, last_index);
}

/* Calls from an unknown place: the step goes on if others follow, or if this is a habit. */
static void begin_stretch(uint64_t ticks, const struct tfs_cache_entry *entry)
{
	stretch.ticks = is_habit(entry->site) ? 0 : ticks;
	stretch.site = entry->site;
}

/* A step that another one follows at once tells rewrites how long it took. */
static void measure_step(void)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const uint64_t amount = tfs_self.owned ? tfs_self.owned->amount : 0;

	if (last_start_ns != 0 && tfs_windows_rewrites())
		tfs_step_listeners.ended(now_ns - last_start_ns, amount - last_amount);
	last_start_ns = now_ns;
	last_amount = amount;
}

static void open_step(uint64_t ticks, uint32_t site)
{
	const bool resumed = phase != TFS_PHASE_TRAINING;

	phase = TFS_PHASE_TRAINING;
	if (resumed)
		tfs_steps_elsewhere(false);
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
		if (!in_stretch(thread))
			begin_stretch(ticks, entry);
		return;
	}
	if ((entry->flags & TFS_SITE_OUTSIDE) == 0 && tfs_steps_same_place(thread, entry))
		return;
	if (in_stretch(thread)) {
		tfs_step_listeners.interrupted();
		note_habit(stretch.site);
		leave_training(stretch.ticks, stretch.site);
	}
	stretch.ticks = 0;
	if ((entry->flags & TFS_SITE_OUTSIDE) != 0) {
		if (is_habit(entry->site))
			return;
		tfs_step_listeners.interrupted();
		note_habit(entry->site);
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
	if (thread != tfs_steps_owner() || atomic_exchange(&marking, true))
		return;
	mark(thread, entry);
	atomic_store(&marking, false);
}

static void begin_anew(uint64_t ticks)
{
	stretch.ticks = 0;
	tfs_step_habits_forget();
	phase = TFS_PHASE_WARMUP;
	put_mark(last_index, ticks, 0, TFS_STEP_ANEW);
	tfs_windows_anew();
}

bool tfs_steps_anew(void)
{
	if (atomic_exchange(&marking, true))
		return false;
	const bool may = tfs_steps_by_loops() && phase == TFS_PHASE_OTHER;
	if (may)
		begin_anew(tfs_clock_ticks());
	atomic_store(&marking, false);
	return may;
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
	const bool doubted = tfs_steps_doubtful();
	uint32_t now = atomic_load(&source);

	if (!is_better(from, now))
		return from == now && atomic_load(&declarer) == &tfs_self;
	if (!atomic_compare_exchange_strong(&source, &now, from))
		return false;
	atomic_store(&declarer, &tfs_self);
	tfs_steps_settle(from == TFS_STEP_API ? TFS_FACT_steps_told : TFS_FACT_steps_found);
	tfs_step_listeners.interrupted();
	leave_training(ticks, site);
	if (doubted)
		begin_anew(ticks);
	return true;
}

static void declare(enum tfs_step_source from, uint64_t ticks, uint64_t caller, bool begins)
{
	if (!tfs_steps_searchable())
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

bool tfs_steps_by_loops(void)
{
	return atomic_load(&source) == TFS_STEP_LOOPS;
}

bool tfs_steps_is_owner(void)
{
	return tfs_self.owned && tfs_self.owned == tfs_steps_owner();
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
	if (!tfs_steps_found())
		tfs_recorder_fact(TFS_FACT_steps_none, NULL, tfs_step_candidates_calls(), 0);
}
