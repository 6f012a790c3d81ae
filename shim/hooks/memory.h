/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_MEMORY_H
#define TFS_SHIM_HOOKS_MEMORY_H

/* How rewrites take part in the allocations and frees of the runtime and of the driver. For the
 * call's own thread. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shim/base/likely.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/held.h"
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

#endif
