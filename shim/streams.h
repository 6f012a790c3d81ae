/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STREAMS_H
#define TFS_SHIM_STREAMS_H

/* Small ids for stream handles. A handle that is destroyed and made anew gets a new id. */

#include <stdint.h>

#define TFS_STREAM_LEGACY 1u
#define TFS_STREAM_PER_THREAD 2u
#define TFS_STREAM_NON_BLOCKING 4u

/* The id of the stream that a call names; `per_thread` says what the null stream means in it. Any
 * thread; TFS_NO_STREAM when there are too many. */
uint16_t tfs_stream_id(const void *handle, int per_thread);

/* A stream was created; `flags` is TFS_STREAM_NON_BLOCKING or 0. */
void tfs_stream_created(const void *handle, uint32_t flags);

#endif
