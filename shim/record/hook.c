/* SPDX-License-Identifier: MIT */
#include "shim/record/hook.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/record/listeners.h"
#include "shim/record/live.h"

/* The longest record of a call: its head and all items. */
#define LONGEST_CALL 13u

static _Atomic uint64_t families_seen;

uint64_t tfs_hook_families(void)
{
	return atomic_load(&families_seen);
}

void tfs_hook_seen(const struct tfs_function *function)
{
	atomic_fetch_or(&families_seen, UINT64_C(1) << function->family % 64);
}

static void define(const struct tfs_function *function, uint16_t id)
{
	struct {
		struct tfs_function_record record;
		char name[sizeof(function->name)];
	} definition = {.record = {.id = id,
				.library = function->library,
				.family = function->family,
				.name_bytes = (uint32_t)strlen(function->name)}};

	memcpy(definition.name, function->name, sizeof(definition.name));
	tfs_recorder_put(&definition, TFS_RECORD_function,
		sizeof(definition.record) + definition.record.name_bytes + 1);
}

uint16_t tfs_hook_id(struct tfs_function *function)
{
	static _Atomic uint16_t last;
	uint16_t id = __atomic_load_n(&function->id, __ATOMIC_RELAXED);

	if (id != 0)
		return id;
	const uint16_t fresh = (uint16_t)(atomic_fetch_add(&last, 1) + 1);
	if (!__atomic_compare_exchange_n(
		    &function->id, &id, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return id;
	define(function, fresh);
	return fresh;
}

struct tfs_entered tfs_hook_enter_slowly(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds)
{
	const int saved = errno;

	if ((heeds & TFS_WANT_FILLS) == 0)
		tfs_listeners.fills(function);
	tfs_listeners.held(function);
	if ((entry->flags & TFS_SITE_SHORT) != 0 && tfs_callsite_can_unwind())
		tfs_callsite_resolve(thread, entry, address, stack, function);
	if ((entry->flags & TFS_SITE_PYTHON) != 0)
		entry = tfs_callsite_python(thread, entry);
	if ((entry->flags & (TFS_SITE_OPENS_STEP | TFS_SITE_OUTSIDE | TFS_SITE_UNKNOWN)) != 0)
		tfs_listeners.mark(thread, entry);
	/* Only now: a mark may have opened or closed a window. */
	const uint32_t wanted = __atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED);
	if ((wanted & TFS_WANT_DEVICE) != 0)
		tfs_listeners.enter_device(tfs_recorder_next_unit(thread, LONGEST_CALL));
	errno = saved;
	return (struct tfs_entered){entry, wanted & ~(TFS_WANT_HELD | (TFS_WANT_FILLS & ~heeds))};
}

struct tfs_frame tfs_hook_enter(
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds)
{
	return tfs_hook_enter_here(function, address, stack, heeds);
}

bool tfs_hook_end(struct tfs_frame *frame, uint32_t status, uint64_t amount)
{
	return tfs_hook_end_here(frame, status, amount);
}

void tfs_hook_plain(struct tfs_frame *frame, uint32_t status)
{
	tfs_hook_plain_here(frame, status);
}

/* The table is full; or this is a child, made while the call was under way. */
bool tfs_hook_count_loss(void)
{
	if (tfs_listeners.forget_parents())
		return false;
	tfs_recorder_lost(TFS_LOSS_aggregates_full, 1);
	return true;
}

/* The head, and two words for each item. */
static inline void fill(uint64_t *words, uint32_t units, const struct tfs_frame *frame,
	const struct tfs_details *details)
{
	tfs_hook_head(words, units, frame, details->stream);
	const struct tfs_item *end = details->items + details->count;
	for (const struct tfs_item *item = details->items; item < end; item++) {
		words += 2;
		words[2] = item->value;
		words[3] = item->tagged;
	}
}

static __attribute__((noinline, cold)) void record_in_next(
	const struct tfs_frame *frame, const struct tfs_details *details, uint32_t units)
{
	uint64_t *place = tfs_recorder_reserve(frame->thread, TFS_RECORD_call, units);

	if (!place)
		return;
	fill(place, units, frame, details);
	tfs_recorder_commit(frame->thread, place);
}

static inline void record(const struct tfs_frame *frame, const struct tfs_details *details)
{
	const uint32_t units = 1 + (details->count + 1) / 2;

	if (TFS_UNLIKELY(!tfs_recorder_has_room(frame->thread, units))) {
		record_in_next(frame, details, units);
		return;
	}
	fill((uint64_t *)frame->thread->next, units, frame, details);
	tfs_recorder_advance(frame->thread, units);
}

/* Recording alone leaves errno as it is; CUPTI and the opening of windows do not. */
static __attribute__((noinline)) void details_to_all(
	const struct tfs_frame *frame, const struct tfs_details *details)
{
	const int saved = errno;

	if ((frame->wanted & TFS_WANT_DEVICE) != 0)
		tfs_listeners.leave_device();
	if ((frame->wanted & TFS_WANT_RECORD) != 0)
		record(frame, details);
	if ((frame->wanted & TFS_WANT_STEPS) != 0)
		tfs_listeners.steps(frame, details);
	if ((frame->wanted & TFS_WANT_WORK) != 0)
		tfs_listeners.work(frame->entry->function, details);
	errno = saved;
}

void tfs_hook_details(struct tfs_frame *frame, const struct tfs_details *details)
{
	if (TFS_LIKELY(frame->wanted == TFS_WANT_RECORD))
		record(frame, details);
	else
		details_to_all(frame, details);
}

void tfs_hook_details_always(struct tfs_frame *frame, const struct tfs_details *details)
{
	if (!frame->thread)
		return;
	frame->wanted |= TFS_WANT_RECORD;
	tfs_hook_details(frame, details);
}

static void details_unrecorded(struct tfs_frame *frame, const struct tfs_details *details)
{
	if (frame->wanted != 0)
		tfs_hook_details(frame, details);
}

void tfs_hook_details_alloc(
	struct tfs_frame *frame, const struct tfs_details *details, uint64_t address)
{
	const uint32_t units = 1 + (details->count + 1) / 2;
	struct tfs_live live = {.address = address, .end_ticks = frame->end_ticks};

	if (!frame->thread)
		return;
	if ((frame->wanted & TFS_WANT_RECORD) != 0 || units > TFS_LIVE_UNITS) {
		tfs_hook_details_always(frame, details);
		return;
	}
	if (frame->status == 0 && address != 0) {
		fill(live.words, units, frame, details);
		if (!tfs_live_add(&live)) {
			tfs_hook_details_always(frame, details);
			return;
		}
	}
	details_unrecorded(frame, details);
}

void tfs_hook_details_free(
	struct tfs_frame *frame, const struct tfs_details *details, uint64_t address)
{
	struct tfs_live live;

	if (!frame->thread)
		return;
	const bool in_window = (frame->wanted & TFS_WANT_RECORD) != 0;
	const bool none = frame->status != 0 || address == 0;
	const bool kept = !none && tfs_live_take(address, frame->start_ticks, &live);

	if (kept && in_window)
		tfs_live_put(&live);
	if (in_window || (!kept && !none))
		tfs_hook_details_always(frame, details);
	else
		details_unrecorded(frame, details);
}
