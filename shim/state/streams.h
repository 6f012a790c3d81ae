/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_STREAMS_H
#define TFS_SHIM_STATE_STREAMS_H

/* Small ids for stream handles. A handle that is destroyed and made anew gets a new id. */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/likely.h"

#define TFS_STREAM_LEGACY 1u
#define TFS_STREAM_PER_THREAD 2u
#define TFS_STREAM_NON_BLOCKING 4u

/* The stream of the thread's latest call: most calls name the same one again. */
struct tfs_stream_latest {
	const void *handle;
	uint64_t named; /* the generation, and 1 more where the null stream is the thread's own */
	uint16_t id;
};
extern __thread struct tfs_stream_latest tfs_stream_latest
	__attribute__((tls_model("initial-exec")));
extern uint64_t tfs_stream_generation
	TFS_OWN; /* even, not 0; another when a handle gets a new id */

/* The uncommon half of tfs_stream_id(). */
uint16_t tfs_stream_find(const void *handle, bool per_thread);

/* The id of the stream that a call names; `per_thread` says what the null stream means in it. Any
 * thread; TFS_NO_STREAM when there are too many. */
static inline uint16_t tfs_stream_id(const void *handle, bool per_thread)
{
	const struct tfs_stream_latest *latest = &tfs_stream_latest;

	return TFS_LIKELY(
		       latest->handle == handle &&
		       latest->named == __atomic_load_n(&tfs_stream_generation, __ATOMIC_ACQUIRE) +
						per_thread)
		       ? latest->id
		       : tfs_stream_find(handle, per_thread);
}

/* The handle by which any thread may name stream `id`: NULL when there is none, as for a thread's
 * own default stream. The program may have destroyed it meanwhile. */
void *tfs_stream_handle(uint16_t id);

/* Was there ever a stream that does not keep to the legacy stream's order? */
bool tfs_streams_free(void);

/* From here on there is one, though it was not seen to be made. */
void tfs_streams_set_free(void);

/* How many streams were created? */
uint32_t tfs_streams_made(void);

/* A stream was created; `flags` is TFS_STREAM_NON_BLOCKING or 0. */
void tfs_stream_created(const void *handle, uint32_t flags);

#endif
