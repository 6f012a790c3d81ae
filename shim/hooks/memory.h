/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_MEMORY_H
#define TFS_SHIM_HOOKS_MEMORY_H

/* The allocations and frees of the runtime and of the driver, and how rewrites take part in them.
 * For the call's own thread. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shim/base/likely.h"
#include "shim/hooks/notes.h"
#include "shim/hooks/take.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/memory.h"

/* The current device, as the runtime and as the driver tells; 0 when it cannot be asked. After a
 * call that succeeded. */
uint32_t tfs_cudart_device(void);
uint32_t tfs_cuda_device(void);

static inline __attribute__((always_inline)) uint32_t tfs_current_device(bool driver)
{
	return driver ? tfs_cuda_device() : tfs_cudart_device();
}

/* Blocks that a rewrite holds are free memory: those come first, an out-of-memory after them. */
static inline __attribute__((always_inline)) void tfs_before_alloc(
	uint64_t bytes, bool ordered, bool driver)
{
	if (TFS_UNLIKELY(tfs_held_any()))
		tfs_held_before_alloc(driver, tfs_current_device(driver), bytes, ordered);
}

#define TFS_OUT_OF_MEMORY 2u /* both layers' */

/* After an allocation that returned `status`: is it worth another try? */
static inline __attribute__((always_inline)) bool tfs_make_room(uint32_t status, bool driver)
{
	if (TFS_LIKELY(status != TFS_OUT_OF_MEMORY))
		return false;
	return tfs_held_any() && tfs_held_make_room(driver, status, tfs_current_device(driver));
}

/* After an allocation with its address at `out`; ends the frame. */
static inline void tfs_end_alloc(struct tfs_frame *frame, uint32_t status, const void *out,
	uint64_t bytes, enum tfs_memory_kind kind, uint32_t flags, bool driver)
{
	const bool good = status == 0 && frame->thread;
	struct tfs_range range = {.bytes = bytes, .kind = kind, .flags = flags};

	if (good)
		memcpy(&range.address, out, sizeof(range.address));
	if (good && kind == TFS_MEMORY_DEVICE)
		range.device = tfs_current_device(driver);
	tfs_note_alloc(frame, status, range);
}

/* A free has waited for the device: the time to part with blocks that nobody wants. */
static inline __attribute__((always_inline)) void tfs_tidy(
	const struct tfs_frame *frame, const void *address, uint32_t status, bool driver)
{
	if (TFS_UNLIKELY(tfs_blocks_any()) && frame->thread && address && status == 0)
		tfs_rewrite_tidy(driver, tfs_current_device(driver));
}

/* Lets a rewrite carry out the call; false: it is the real function's. The address, a pointer or a
 * CUdeviceptr, is set where it has succeeded. */
bool tfs_take_alloc(const struct tfs_frame *frame, uint64_t bytes, bool driver, void *out_address,
	uint32_t *out_status);
bool tfs_take_free(const struct tfs_frame *frame, void *address, const struct tfs_range *was,
	bool driver, uint32_t *out_status);

#define TFS_ALLOC_HOOK(type, name, address_type)                                                   \
	TFS_HOOK(type, name, (address_type * out, size_t bytes))                                   \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		uint32_t status;                                                                   \
                                                                                                   \
		if (!out || !tfs_take_alloc(&frame, bytes, TFS_BY_DRIVER, out, &status)) {         \
			tfs_before_alloc(bytes, false, TFS_BY_DRIVER);                             \
			status = TFS_REAL(name)(out, bytes);                                       \
		}                                                                                  \
		while (tfs_make_room(status, TFS_BY_DRIVER))                                       \
			status = TFS_REAL(name)(out, bytes);                                       \
		tfs_end_alloc(&frame, status, out, bytes, TFS_MEMORY_DEVICE, TFS_RANGE_WHOLE,      \
			TFS_BY_DRIVER);                                                            \
		return (type)status;                                                               \
	}

#define TFS_FREE_HOOK(type, name, address_type)                                                    \
	TFS_HOOK(type, name, (address_type address))                                               \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		void *memory = (void *)(uintptr_t)address;                                         \
		struct tfs_range was = {0};                                                        \
		uint32_t status;                                                                   \
                                                                                                   \
		tfs_memory_remove((uint64_t)(uintptr_t)address, &was);                             \
		if (!tfs_take_free(&frame, memory, &was, TFS_BY_DRIVER, &status)) {                \
			tfs_blocks_given(memory, NULL);                                            \
			status = TFS_REAL(name)(address);                                          \
		}                                                                                  \
		tfs_tidy(&frame, memory, status, TFS_BY_DRIVER);                                   \
		tfs_note_free(&frame, status, memory, &was);                                       \
		return (type)status;                                                               \
	}

#endif
