/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_FRAME_H
#define TFS_SHIM_RECORD_FRAME_H

/*
 * A call in flight: entering it finds the call site and reads the clock, ending it counts it. The
 * macros are what hooks use; see hook.h.
 *
 * A hook calls the functions that do so, which keeps it small. In a file that defines TFS_HOT_HOOKS
 * before anything is included they are part of the hook, which is 1 kB larger and some 5 ns faster.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/clock.h"
#include "shim/base/likely.h"
#include "shim/record/callsite.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"

/* Lives in the hook's stack frame. */
struct tfs_frame {
	struct tfs_thread *thread; /* NULL: this call is not recorded */
	struct tfs_cache_entry *entry;
	uint64_t start_ticks;
	uint64_t end_ticks;
	uint64_t amount;
	uint32_t status;
	uint32_t wanted;
};

/* What entering slowly may change. In two registers. */
struct tfs_entered {
	struct tfs_cache_entry *entry;
	uint64_t wanted;
};

/* The uncommon half of entering: Python callers, step marks, device correlation, a stack to be
 * unwound again, zeros that were held back, unless the hook `heeds` TFS_WANT_FILLS itself. */
struct tfs_entered tfs_hook_enter_slowly(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds);

/* Reading the clock waits for all that was begun before it, and some 15 cycles of what follows run
 * meanwhile. So the slot is worked out first, beside the thread's address, and looked into after.
 * What takes longer is not the call's, and the clock is read anew. Of what is wanted of some calls
 * only, the hook sees what it `heeds`. */
static inline __attribute__((always_inline)) struct tfs_frame tfs_hook_enter_here(
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds)
{
	struct tfs_frame frame = {.thread = tfs_self.active};

	if (TFS_UNLIKELY(!frame.thread)) {
		frame.thread = tfs_recorder_thread(address, stack);
		if (!frame.thread)
			return frame;
	}
	frame.entry = tfs_callsite_slot(&frame.thread->cache, address, stack);
	frame.start_ticks = tfs_clock_ticks();
	tfs_self.entered = stack;
	atomic_signal_fence(memory_order_release); /* a handler finds it once it finds NULL */
	tfs_self.active = NULL;
	if (TFS_UNLIKELY(!tfs_callsite_is(frame.entry, address, stack, function))) {
		frame.entry = tfs_callsite_search(frame.thread, address, stack, function);
		if (!frame.entry) {
			tfs_self.entered = UINT64_MAX; /* not to be asked again */
			frame.thread = NULL;
			return frame;
		}
		frame.start_ticks = tfs_clock_ticks();
	}
	frame.wanted = __atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED);
	if (TFS_UNLIKELY((frame.entry->flags | (frame.wanted & (TFS_WANT_DEVICE | TFS_WANT_FILLS |
								       TFS_WANT_HELD))) != 0)) {
		const struct tfs_entered entered = tfs_hook_enter_slowly(
			frame.thread, frame.entry, function, address, stack, heeds);

		frame.entry = entered.entry;
		frame.wanted = (uint32_t)entered.wanted;
		frame.start_ticks = tfs_clock_ticks();
	}
	frame.wanted &= heeds | ~(TFS_WANT_COPIES | TFS_WANT_CONTENTS);
	return frame;
}
struct tfs_frame tfs_hook_enter(
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds);
#ifdef TFS_HOT_HOOKS
#define tfs_hook_enter tfs_hook_enter_here
#endif
#define TFS_ENTER_BY(name, heeds)                                                                  \
	tfs_hook_enter(&tfs_fn_##name, (uint64_t)__builtin_return_address(0),                      \
		(uint64_t)__builtin_dwarf_cfa(), heeds)
#define TFS_ENTER(name) TFS_ENTER_BY(name, 0)

/* For a call that tells of all the memory it works on before it is made, see fills.h. */
#define TFS_ENTER_TELLING(name) TFS_ENTER_BY(name, TFS_WANT_FILLS)

/* For plain copies, see copy.h. */
#define TFS_ENTER_COPY(name)                                                                       \
	TFS_ENTER_BY(name, TFS_WANT_FILLS | TFS_WANT_COPIES | TFS_WANT_CONTENTS)

/* A call without totals; false when it is not to be recorded at all. */
bool tfs_hook_count_loss(void);

/* Counts the call; false when it is not to be recorded. */
static inline __attribute__((always_inline)) bool tfs_hook_count_here(
	struct tfs_frame *frame, uint32_t status, uint64_t amount)
{
	if (TFS_UNLIKELY(!frame->thread))
		return false;
	frame->end_ticks = tfs_clock_ticks();
	frame->thread->amount += amount;
	struct tfs_aggregate *total = frame->entry->aggregate;
	const uint64_t ticks = frame->end_ticks - frame->start_ticks;

	if (TFS_LIKELY(total)) {
		if (TFS_UNLIKELY(total->count == 0))
			total->first_ticks = frame->start_ticks;
		if (ticks > total->longest_ticks)
			total->longest_ticks = ticks;
		/* Apart, or compilers make one wide addition of both that takes longer. */
		total->ticks += ticks;
		if (TFS_UNLIKELY(status != 0))
			total->failures++;
		total->amount += amount;
		total->latest_ticks = frame->start_ticks;
		__atomic_store_n(&total->count, total->count + 1, __ATOMIC_RELAXED);
	} else if (!tfs_hook_count_loss()) {
		frame->thread = NULL;
		return false;
	}
	frame->status = status;
	frame->amount = amount;
	return true;
}

/* Counts the call; true when its details are wanted. */
static inline __attribute__((always_inline)) bool tfs_hook_end_here(
	struct tfs_frame *frame, uint32_t status, uint64_t amount)
{
	return tfs_hook_count_here(frame, status, amount) && TFS_UNLIKELY(frame->wanted != 0);
}
bool tfs_hook_end(struct tfs_frame *frame, uint32_t status, uint64_t amount);
#ifdef TFS_HOT_HOOKS
#define tfs_hook_end tfs_hook_end_here
#endif
#define TFS_END(frame, status, amount) tfs_hook_end(frame, (uint32_t)(status), amount)

static inline __attribute__((always_inline)) void tfs_hook_leave(struct tfs_frame *frame)
{
	if (TFS_UNLIKELY(!frame->thread))
		return;
	frame->thread->latest = frame->entry;
	tfs_self.active = frame->thread;
}
#define TFS_LEAVE(frame) tfs_hook_leave(frame)

#endif
