/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_ASIDE_H
#define TFS_SHIM_RECORD_ASIDE_H

/*
 * Calls that ask for no more than what the calling thread has, its device or its last error. Some
 * programs make them around every other call: of PyTorch's calls they are eight of ten. They give
 * nothing work and wait for nothing, and finding the place of each takes longer than the call. So
 * they are counted, in one total for each thread and function, without place and duration, and
 * neither windows nor the search for the training step see them. Those that fail are recorded as
 * other calls are, but for their duration, which is not theirs; and so is a thread's first.
 */

#include "shim/record/details.h"
#include "shim/record/frame.h"

/* Each has a place of its own among a thread's totals. */
enum tfs_aside_number {
	TFS_ASIDE_cudaGetDevice = 1,
	TFS_ASIDE_cudaGetLastError,
	TFS_ASIDE_cudaPeekAtLastError,
};
_Static_assert(TFS_ASIDE_cudaPeekAtLastError == TFS_ASIDES, "recorder.h has room for the last");

/* Entering it the fast way; `total` is NULL where it is not to be entered so. */
struct tfs_aside {
	struct tfs_thread *thread;
	struct tfs_aggregate *total;
	enum tfs_aside_number number;
};

static inline struct tfs_aside tfs_aside_enter(enum tfs_aside_number number, uint64_t stack)
{
	struct tfs_aside aside = {.thread = tfs_self.active, .number = number};

	if (TFS_UNLIKELY(!aside.thread))
		return aside;
	aside.total = aside.thread->asides[number];
	if (TFS_UNLIKELY(!aside.total))
		return aside;
	tfs_self.entered = stack;
	atomic_signal_fence(memory_order_release); /* as tfs_hook_enter_here() */
	tfs_self.active = NULL;
	return aside;
}

/* What failed has a place: it is entered once more, where it returns to. A child that was forked
 * during the call, by a signal's handler, has no total any more. */
static inline void tfs_aside_leave(const struct tfs_aside *aside, bool failed)
{
	if (TFS_UNLIKELY(!aside->thread->asides[aside->number]))
		return;
	if (TFS_LIKELY(!failed))
		__atomic_store_n(&aside->total->count, aside->total->count + 1, __ATOMIC_RELAXED);
	tfs_self.active = aside->thread;
}

/* With time and place. From then on there is a total for the thread's others. Cold. */
struct tfs_frame tfs_aside_enter_slowly(struct tfs_function *function, enum tfs_aside_number number,
	uint64_t address, uint64_t stack);

/* As tfs_hook_plain(), and the thread's latest call stays the one before: other asides are not seen
 * there either. */
void tfs_aside_end(struct tfs_frame *frame, uint32_t status);

#define TFS_ASIDE_HOOK(type, name, parameters, arguments)                                          \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		const uint64_t stack = (uint64_t)__builtin_dwarf_cfa();                            \
		const uint64_t address = (uint64_t)__builtin_return_address(0);                    \
		const struct tfs_aside aside = tfs_aside_enter(TFS_ASIDE_##name, stack);           \
		struct tfs_frame frame;                                                            \
		type status;                                                                       \
                                                                                                   \
		if (TFS_LIKELY(aside.total)) {                                                     \
			status = TFS_REAL(name) arguments;                                         \
			tfs_aside_leave(&aside, status != 0);                                      \
			if (TFS_LIKELY(status == 0))                                               \
				return status;                                                     \
			frame = tfs_aside_enter_slowly(                                            \
				&tfs_fn_##name, TFS_ASIDE_##name, address, stack);                 \
		} else {                                                                           \
			frame = tfs_aside_enter_slowly(                                            \
				&tfs_fn_##name, TFS_ASIDE_##name, address, stack);                 \
			status = TFS_REAL(name) arguments;                                         \
		}                                                                                  \
		tfs_aside_end(&frame, (uint32_t)status);                                           \
		return status;                                                                     \
	}

#endif
