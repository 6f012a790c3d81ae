/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_RING_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_RING_H

/*
 * Rings of pinned chunks, one for each context that copies are staged in, and more for threads that
 * copy at the same time: made on first use, kept until the context is gone. One thread at a time
 * has a ring, and nobody ever waits for it: a thread that waits in a copy may need another one to
 * go on.
 *
 * For the same reason a chunk whose last transfer is not over is left alone, unless that is of the
 * very copy that needs it, and this one may wait. The program may let a stream go on only after the
 * call.
 */

#include "shim/rewrites/pinned_staging/pinned_staging_device.h"
#include "shim/rewrites/pinned_staging/pinned_staging_pieces.h"

#define TFS_STAGING_CHUNK (UINT64_C(2) << 20)
#define TFS_STAGING_CHUNKS 8u

struct tfs_staging_chunk {
	char *memory;
	void *passed; /* event behind the chunk's latest transfer */
	bool used;
	uint64_t last_piece; /* of what threads copy from or to it */
	size_t offset;       /* in the copy that it is used for */
	size_t bytes;
};

struct tfs_staging_ring {
	const struct tfs_staging_device *device;
	struct tfs_staging_context context;
	uint64_t stamp;
	struct tfs_staging_chunk chunks[TFS_STAGING_CHUNKS];
	uint32_t count;
	uint32_t next; /* where the chunk used longest ago is */
	/* Around a transfer that is timed; `probed` is its chunk. */
	void *probe[2];
	const struct tfs_staging_chunk *probed;
	size_t probed_bytes;
	bool probed_out;  /* to the host */
	bool probed_many; /* of a copy of TFS_STAGING_MANY or more */
	double spent_ns;  /* by the latest copy, without waiting for what was before it */
	void *mark;       /* event to see whether a stream takes ours, and to wait for it */
	/* Those that the current owner may use, in order. */
	struct tfs_staging_chunk *usable[TFS_STAGING_CHUNKS];
	uint32_t usable_count;
	struct tfs_staging_pieces pieces;
};

enum tfs_staging_ring_answer {
	TFS_RING_TAKEN,
	TFS_RING_BUSY,      /* another thread has it */
	TFS_RING_NO_MEMORY, /* none, and none can be made */
	TFS_RING_NO_STREAM, /* the stream is not of this context */
	TFS_RING_NO_SPACE   /* of addresses, or in the control group's memory */
};

/* The ring for copies of this context, for use on `stream`; give it back afterwards. */
enum tfs_staging_ring_answer tfs_staging_ring_take(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, void *stream,
	struct tfs_staging_ring **out_ring);
void tfs_staging_ring_give(struct tfs_staging_ring *ring);

/* The device was reset; its rings are gone. Any thread; waits for none. */
void tfs_staging_ring_reset(uint32_t device);

#endif
