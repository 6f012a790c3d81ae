/* SPDX-License-Identifier: MIT */
#include "shim/record/aside.h"

#include "shim/record/hook.h"

#define NO_PLACE 0u

struct tfs_frame tfs_aside_enter_slowly(struct tfs_function *function, enum tfs_aside_number number,
	uint64_t address, uint64_t stack)
{
	/* Before its call site is looked at. */
	__atomic_store_n(&function->aside, true, __ATOMIC_RELAXED);
	struct tfs_frame frame = tfs_hook_enter(function, address, stack, 0);

	if (frame.thread && !frame.thread->asides[number])
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
