/* SPDX-License-Identifier: MIT */
#include "shim/record/aside.h"

#include "shim/record/hook.h"

#define NO_PLACE 0u

/* From 1, as each is first called; 0 = there are too many. */
static uint8_t number_of(struct tfs_function *function)
{
	static _Atomic uint8_t last;
	uint8_t none = 0;
	uint8_t number = __atomic_load_n(&function->aside, __ATOMIC_RELAXED);

	if (number != 0 || atomic_load(&last) >= TFS_ASIDES)
		return number;
	const uint8_t fresh = (uint8_t)(atomic_fetch_add(&last, 1) + 1);
	if (fresh > TFS_ASIDES)
		return 0;
	return __atomic_compare_exchange_n(
		       &function->aside, &none, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
		       ? fresh
		       : none;
}

struct tfs_frame tfs_aside_enter_slowly(
	struct tfs_function *function, uint64_t address, uint64_t stack)
{
	const uint8_t number = number_of(function);
	struct tfs_frame frame = tfs_hook_enter(function, address, stack, 0);

	if (frame.thread && number != 0 && !frame.thread->asides[number])
		frame.thread->asides[number] =
			tfs_recorder_aggregate(frame.thread, NO_PLACE, tfs_hook_id(function));
	frame.wanted &= ~TFS_WANT_STEPS;
	return frame;
}

void tfs_aside_end(struct tfs_frame *frame, uint32_t status)
{
	struct tfs_thread *const thread = frame->thread;
	struct tfs_cache_entry *const latest = thread ? thread->latest : NULL;

	tfs_hook_plain(frame, status);
	if (latest)
		thread->latest = latest;
}
