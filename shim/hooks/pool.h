/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_POOL_H
#define TFS_SHIM_HOOKS_POOL_H

/* The hooks of stream-ordered pools, the runtime's and the driver's. */

#include "shim/hooks/memory.h"
#include "shim/hooks/notes.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/state/pools.h"

/* A stream-ordered free, and its twin. */
#define TFS_FREE_ORDERED_HOOKS(result_type, name, address_type, stream_type)                       \
	TFS_TWIN_HOOKS(result_type, name, _ptsz, (address_type address, stream_type stream),       \
		(address, stream))                                                                 \
	{                                                                                          \
		void *memory = (void *)(uintptr_t)address;                                         \
		struct tfs_range was = {0};                                                        \
                                                                                                   \
		tfs_memory_remove((uint64_t)(uintptr_t)address, &was);                             \
		tfs_blocks_given(memory, NULL);                                                    \
		const result_type status = TFS_TWIN_REAL(name)(address, stream);                   \
		tfs_note_free_ordered(&frame, status, memory, &was, stream, per_thread);           \
		return status;                                                                     \
	}

/* `on_device` is the layer's type of a location on a device; handles of no type are 0 on both. */
#define TFS_POOL_CREATE_HOOK(result_type, name, pool_type, like_type, on_device)                   \
	TFS_HOOK(result_type, name, (pool_type * pool, const like_type *like))                     \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const result_type status = TFS_REAL(name)(pool, like);                             \
                                                                                                   \
		if (status == 0)                                                                   \
			tfs_pools_created(*pool,                                                   \
				like->location.type == (on_device) ? like->location.id : -1,       \
				like->handleTypes != 0);                                           \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

#define TFS_POOL_DESTROY_HOOK(result_type, name, pool_type)                                        \
	TFS_HOOK(result_type, name, (pool_type pool))                                              \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
                                                                                                   \
		tfs_reserves_leave(pool);                                                          \
		tfs_pools_destroyed(pool);                                                         \
		const result_type status = TFS_REAL(name)(pool);                                   \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

#define TFS_POOL_SET_HOOK(result_type, name, pool_type, attribute_type)                            \
	TFS_HOOK(result_type, name, (pool_type pool, attribute_type attribute, void *value))       \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const result_type status = TFS_REAL(name)(pool, attribute, value);                 \
                                                                                                   \
		if (status == 0 && (int)attribute == TFS_POOL_THRESHOLD) {                         \
			tfs_reserves_leave(pool);                                                  \
			tfs_pools_set(pool, *(const uint64_t *)value);                             \
		}                                                                                  \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

/* As if the pool kept nothing. */
#define TFS_POOL_GET_HOOK(result_type, name, pool_type, attribute_type)                            \
	TFS_HOOK(result_type, name, (pool_type pool, attribute_type attribute, void *value))       \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const bool kept = tfs_reserves_hidden(pool);                                       \
                                                                                                   \
		if (TFS_UNLIKELY(kept) && (int)attribute == TFS_POOL_RESERVED)                     \
			tfs_reserves_give_back(TFS_BY_DRIVER, tfs_current_device(TFS_BY_DRIVER));  \
		const result_type status = TFS_REAL(name)(pool, attribute, value);                 \
		if (TFS_UNLIKELY(kept) && status == 0 && (int)attribute == TFS_POOL_THRESHOLD)     \
			*(uint64_t *)value = 0;                                                    \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

#endif
