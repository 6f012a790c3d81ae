/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_shadow.h"

#include <driver_types.h>
#include <stdatomic.h>

#include "shim/base/heap.h"

#define BLOCK ((size_t)64 << 10)
#define BLOCKS 16u

struct aside {
	struct tfs_staging_ring *ring;
	const struct tfs_staging_job *job;
	const char *memory; /* the copy done again, on the device */
	char *buffers;      /* two blocks, on the host */
	struct tfs_staging_compared *compared;
};

static size_t differs(const char *one, const char *other, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && one[i] == other[i])
		i++;
	return i;
}

/* False when there is nothing more to be learned. */
static bool compare_block(const struct aside *aside, size_t offset)
{
	const struct tfs_staging_device *device = aside->ring->device;
	const struct tfs_op *op = aside->job->op;
	void *stream = aside->job->stream;
	const size_t rest = op->copy.bytes - offset;
	const size_t bytes = rest < BLOCK ? rest : BLOCK;

	if (tfs_staging_copy_on(device, aside->buffers, (const char *)op->copy.target + offset,
		    bytes, cudaMemcpyDeviceToHost, stream) != 0 ||
		tfs_staging_copy_on(device, aside->buffers + BLOCK, aside->memory + offset, bytes,
			cudaMemcpyDeviceToHost, stream) != 0 ||
		device->wait(stream) != 0) {
		aside->compared->done = false;
		return false;
	}
	const size_t same = differs(aside->buffers, aside->buffers + BLOCK, bytes);
	aside->compared->bytes += bytes;
	if (same < bytes)
		aside->compared->at = offset + same;
	return same == bytes;
}

static void compare_blocks(const struct aside *aside)
{
	static _Atomic uint32_t round;
	const size_t bytes = aside->job->op->copy.bytes;
	const size_t blocks = (bytes + BLOCK - 1) / BLOCK;
	uint32_t turn = atomic_fetch_add(&round, BLOCKS);
	bool more = true;

	aside->compared->done = true;
	for (size_t i = 0; i < blocks && i < BLOCKS && more; i++) {
		size_t block = i;

		if (blocks > BLOCKS && i == BLOCKS - 1)
			block = blocks - 1;
		else if (blocks > BLOCKS && i > 0)
			/* Multiples of an odd number far from its size reach all blocks in turn. */
			block = (size_t)(turn++ * UINT64_C(2654435761) % blocks);
		more = compare_block(aside, block * BLOCK);
	}
}

static void compare_in(struct tfs_staging_ring *ring, struct tfs_staging_job *again,
	struct tfs_op *op, struct aside *aside)
{
	const struct tfs_staging_device *device = ring->device;
	void *memory = NULL;
	size_t done = 0;

	aside->buffers = tfs_heap_alloc(2 * BLOCK);
	if (!aside->buffers)
		return;
	if (device->alloc(&memory, op->copy.bytes) == 0) {
		op->copy.target = memory;
		aside->memory = memory;
		if (tfs_staging_move(ring, again, &done) == 0 && done == op->copy.bytes)
			compare_blocks(aside);
		device->release(memory);
	} else {
		tfs_staging_drop_error(device);
	}
	tfs_heap_free(aside->buffers, 2 * BLOCK);
}

static void compare_out(struct tfs_staging_ring *ring, struct tfs_staging_job *again,
	struct tfs_op *op, struct tfs_staging_compared *compared)
{
	const char *kept = op->copy.target;
	size_t done = 0;

	op->copy.target = tfs_heap_alloc(op->copy.bytes);
	if (!op->copy.target)
		return;
	if (tfs_staging_move(ring, again, &done) == 0 && done == op->copy.bytes) {
		compared->done = true;
		compared->bytes = op->copy.bytes;
		compared->at = differs(kept, op->copy.target, op->copy.bytes);
	}
	tfs_heap_free(op->copy.target, op->copy.bytes);
}

void tfs_staging_compare(struct tfs_staging_ring *ring, const struct tfs_staging_job *job,
	struct tfs_staging_compared *out_compared)
{
	struct tfs_op op = *job->op;
	struct tfs_staging_job again = *job;
	struct aside aside = {.ring = ring, .job = job, .compared = out_compared};

	*out_compared = (struct tfs_staging_compared){.at = job->op->copy.bytes};
	again.op = &op;
	if (tfs_staging_has_error(ring->device))
		return;
	if (job->out)
		compare_out(ring, &again, &op, out_compared);
	else
		compare_in(ring, &again, &op, &aside);
}
