/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_move.h"

#include <driver_types.h>
#include <string.h>
#include <time.h>

#include "shim/base/mutant.h"
#include "shim/rewrites/pinned_staging/pinned_staging_rates.h"

/* Mutants. */
#define NAIVE_WAIT (1u << 20)  /* waits for other copies' chunks */
#define NAIVE_EARLY (1u << 19) /* returns while the last chunks are on their way */

#define AHEAD 3u /* chunks that are being filled at a time */

/* How far a copy is. Chunks are numbered from its start. */
struct progress {
	size_t opened; /* bytes that have a chunk */
	size_t done;   /* bytes that the program's own call need not copy */
	size_t first;  /* chunk that is not done */
	size_t last;   /* chunk that is not opened */
};

/* The chunk's transfer is over: how long did it take? */
static void settle(struct tfs_staging_ring *ring, struct tfs_staging_chunk *chunk)
{
	float ms = 0;

	chunk->used = false;
	if (ring->probed != chunk)
		return;
	ring->probed = NULL;
	if (ring->device->event_elapsed(&ms, ring->probe[0], ring->probe[1]) == 0)
		tfs_staging_keep_pinned(
			ring->probed_out, ring->probed_many, ring->probed_bytes, (double)ms * 1e6);
}

static bool is_free(struct tfs_staging_ring *ring, struct tfs_staging_chunk *chunk)
{
	if (!chunk->used)
		return true;
	if (!tfs_staging_is_ready(ring->device, chunk->passed))
		return false;
	settle(ring, chunk);
	return true;
}

static int wait_for(struct tfs_staging_ring *ring, struct tfs_staging_chunk *chunk)
{
	const int status = ring->device->event_wait(chunk->passed);

	if (status == 0)
		settle(ring, chunk);
	return status;
}

/* Those that are free, in the order in which they were last used, and no more than are needed. */
static void choose(struct tfs_staging_ring *ring, size_t bytes)
{
	const size_t most = (bytes + TFS_STAGING_LEAST - 1) / TFS_STAGING_LEAST;

	ring->usable_count = 0;
	for (uint32_t i = 0; i < ring->count && ring->usable_count < most; i++) {
		struct tfs_staging_chunk *chunk = &ring->chunks[(ring->next + i) % ring->count];

		if (is_free(ring, chunk) || TFS_MUTANT(NAIVE_WAIT))
			ring->usable[ring->usable_count++] = chunk;
	}
}

static struct tfs_staging_chunk *chunk_at(const struct tfs_staging_ring *ring, size_t number)
{
	return ring->usable[number % ring->usable_count];
}

/* Between the chunk and the device, on the program's stream. */
static int transfer(struct tfs_staging_ring *ring, const struct tfs_staging_job *job,
	struct tfs_staging_chunk *chunk)
{
	const struct tfs_staging_device *device = ring->device;
	const struct tfs_op *op = job->op;
	const bool probing = !ring->probed && tfs_staging_wants_pinned(job);
	int status = probing ? device->event_record(ring->probe[0], job->stream) : 0;

	if (status == 0)
		status = job->out ? tfs_staging_copy_on(device, chunk->memory,
					    (const char *)op->copy.source + chunk->offset,
					    chunk->bytes, cudaMemcpyDeviceToHost, job->stream)
				  : tfs_staging_copy_on(device,
					    (char *)op->copy.target + chunk->offset, chunk->memory,
					    chunk->bytes, cudaMemcpyHostToDevice, job->stream);
	if (status == 0 && probing)
		status = device->event_record(ring->probe[1], job->stream);
	if (status == 0 && probing) {
		ring->probed = chunk;
		ring->probed_bytes = chunk->bytes;
		ring->probed_out = job->out;
		ring->probed_many = job->op->copy.bytes >= TFS_STAGING_MANY;
	}
	if (status == 0)
		status = device->event_record(chunk->passed, job->stream);
	chunk->used = status == 0;
	ring->next = (uint32_t)(chunk - ring->chunks + 1) % ring->count;
	return status;
}

struct late {
	void *memory;
	const void *source;
	size_t bytes;
};

static void read_late(void *argument)
{
	const struct late *late = argument;

	memcpy(late->memory, late->source, late->bytes);
}

/* A mutant. */
static void be_late(struct tfs_staging_ring *ring, const struct tfs_staging_job *job,
	const struct tfs_staging_chunk *chunk)
{
	static struct late late[TFS_STAGING_CHUNKS];
	struct late *one = &late[chunk - ring->chunks];

	*one = (struct late){
		chunk->memory, (const char *)job->op->copy.source + chunk->offset, chunk->bytes};
	ring->device->call(job->stream, read_late, one);
}

/* A copy that is waited for begins and ends with short chunks: at the beginning the device, and at
 * the end the host, has nothing to do but to wait for one. */
static size_t part_of(const struct tfs_staging_job *job, size_t offset)
{
	const size_t rest = job->op->copy.bytes - offset;
	const size_t begun = offset > 2 * TFS_STAGING_LEAST ? offset : 2 * TFS_STAGING_LEAST;
	size_t part = rest / 2 / TFS_STAGING_LEAST * TFS_STAGING_LEAST;

	if (job->op->copy.async || part < TFS_STAGING_LEAST)
		part = job->op->copy.async || rest <= TFS_STAGING_LEAST ? rest : TFS_STAGING_LEAST;
	else if (part > begun)
		part = begun / TFS_STAGING_LEAST * TFS_STAGING_LEAST;
	return part < TFS_STAGING_CHUNK ? part : TFS_STAGING_CHUNK;
}

/* The next chunk, of which the device needs nothing any more. */
static struct tfs_staging_chunk *start_chunk(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, struct progress *at)
{
	struct tfs_staging_chunk *chunk = chunk_at(ring, at->last);

	chunk->offset = at->opened;
	chunk->bytes = part_of(job, at->opened);
	at->opened += chunk->bytes;
	at->last++;
	return chunk;
}

/* Fills as many chunks ahead as are free, so that the threads have something to do while the ones
 * before are on their way. Waits for one only if there is none else, and the copy is waited for. */
static int fill(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, struct progress *at)
{
	const size_t ahead = ring->usable_count < AHEAD ? ring->usable_count : AHEAD;
	const bool patient = !job->op->copy.async || TFS_MUTANT(NAIVE_WAIT);
	int status = 0;

	while (at->opened < job->op->copy.bytes && at->last - at->first < ahead) {
		struct tfs_staging_chunk *next = chunk_at(ring, at->last);

		if (!is_free(ring, next)) {
			if (at->last > at->first || !patient)
				break;
			status = wait_for(ring, next);
		}
		if (status != 0)
			break;
		start_chunk(ring, job, at);
		next->last_piece =
			TFS_MUTANT(TFS_STAGING_NAIVE_LATE)
				? atomic_load(&ring->pieces.opened)
				: tfs_staging_pieces_open(&ring->pieces, next->memory,
					  (char *)(uintptr_t)job->op->copy.source + next->offset,
					  next->bytes, false);
	}
	return status;
}

static int send(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, struct progress *at)
{
	struct tfs_staging_chunk *chunk = NULL;
	int status = 0;

	while (at->done < job->op->copy.bytes && status == 0) {
		status = fill(ring, job, at);
		if (status != 0 || at->last == at->first)
			break;
		chunk = chunk_at(ring, at->first);
		if (!tfs_staging_pieces_finish(&ring->pieces, chunk->last_piece))
			break;
		if (TFS_MUTANT(TFS_STAGING_NAIVE_LATE))
			be_late(ring, job, chunk);
		if (TFS_MUTANT(TFS_STAGING_NAIVE_WRONG))
			chunk->memory[chunk->bytes / 2] ^= 1;
		status = transfer(ring, job, chunk);
		at->done += chunk->bytes;
		at->first++;
	}
	/* Whatever happened: nobody reads the program's memory any more. */
	tfs_staging_pieces_finish(&ring->pieces, atomic_load(&ring->pieces.opened));
	/* Who reads the device's memory next, and by what way, is not known. */
	if (status == 0 && !job->op->copy.async && at->done == job->op->copy.bytes &&
		!TFS_MUTANT(NAIVE_EARLY))
		status = wait_for(ring, chunk);
	return status;
}

/* Keeps transfers going into free chunks. */
static int request(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, struct progress *at)
{
	int status = 0;

	while (at->opened < job->op->copy.bytes && at->last - at->first < ring->usable_count &&
		status == 0)
		status = transfer(ring, job, start_chunk(ring, job, at));
	return status;
}

/* Lets the threads empty the full chunks. */
static int receive(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, struct progress *at)
{
	const size_t behind = ring->pieces.helpers > 0 ? ring->usable_count / 2 : 0;
	size_t landed = 0;
	bool copied = true;
	int status = 0;

	while (at->done < job->op->copy.bytes && status == 0 && copied) {
		status = request(ring, job, at);
		if (status == 0 && landed < at->last) {
			struct tfs_staging_chunk *chunk = chunk_at(ring, landed);

			status = wait_for(ring, chunk);
			if (status != 0)
				break;
			if (TFS_MUTANT(TFS_STAGING_NAIVE_WRONG))
				chunk->memory[chunk->bytes / 2] ^= 1;
			chunk->last_piece = tfs_staging_pieces_open(&ring->pieces, chunk->memory,
				(char *)job->op->copy.target + chunk->offset, chunk->bytes, true);
			landed++;
		}
		const bool all = landed == at->last && at->opened == job->op->copy.bytes;
		while (copied && at->first < landed && (all || at->first + behind < landed)) {
			const struct tfs_staging_chunk *chunk = chunk_at(ring, at->first);

			copied = tfs_staging_pieces_finish(&ring->pieces, chunk->last_piece);
			at->done += copied ? chunk->bytes : 0;
			at->first += copied;
		}
	}
	tfs_staging_pieces_finish(&ring->pieces, atomic_load(&ring->pieces.opened));
	return status;
}

/* For all that the copy comes behind; of the legacy stream, that is other streams' work as well. */
static int wait_before(struct tfs_staging_ring *ring, const struct tfs_staging_job *job)
{
	const int status = ring->device->event_record(ring->mark, job->stream);

	return status == 0 ? ring->device->event_wait(ring->mark) : status;
}

static void waste_time(void)
{
	nanosleep(&(const struct timespec){.tv_nsec = 5000000}, NULL);
}

int tfs_staging_move(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, size_t *out_done)
{
	const double start_ns = tfs_staging_now();
	struct progress at = {0};
	int status = job->op->copy.async ? 0 : wait_before(ring, job);

	*out_done = 0;
	if (status != 0)
		return status;
	const double waited_ns = tfs_staging_now() - start_ns;
	choose(ring, job->op->copy.bytes);
	if (ring->usable_count == 0)
		return 0;
	tfs_staging_pieces_begin(&ring->pieces, job->op->copy.bytes);
	status = job->out ? receive(ring, job, &at) : send(ring, job, &at);
	*out_done = at.done;
	if (TFS_MUTANT(TFS_STAGING_NAIVE_MODEL))
		waste_time();
	ring->spent_ns = tfs_staging_now() - (double)job->begun_ns - waited_ns;
	if (status == 0 && at.done == job->op->copy.bytes)
		tfs_staging_keep_staged(job, ring->spent_ns);
	if (TFS_MUTANT(TFS_STAGING_NAIVE_SLOW))
		waste_time();
	return status;
}

int tfs_staging_call(const struct tfs_op *op, size_t done)
{
	char *target = (char *)op->copy.target + done;
	const char *source = (const char *)op->copy.source + done;
	const size_t bytes = op->copy.bytes - done;
	int (*driver)(void *, const void *, size_t) = (__typeof__(driver))op->copy.real;
	int (*driver_on)(void *, const void *, size_t, void *) =
		(__typeof__(driver_on))op->copy.real;
	int (*runtime)(void *, const void *, size_t, int) = (__typeof__(runtime))op->copy.real;
	int (*runtime_on)(void *, const void *, size_t, int, void *) =
		(__typeof__(runtime_on))op->copy.real;

	if (op->driver)
		return op->copy.async ? driver_on(target, source, bytes, op->stream)
				      : driver(target, source, bytes);
	return op->copy.async ? runtime_on(target, source, bytes, op->copy.kind, op->stream)
			      : runtime(target, source, bytes, op->copy.kind);
}

bool tfs_staging_sample(const struct tfs_staging_device *device, const struct tfs_staging_job *job,
	uint32_t *out_status)
{
	const struct tfs_op *op = job->op;

	if (!tfs_staging_wants_pageable(job))
		return false;
	*out_status = op->copy.async ? 0 : (uint32_t)device->wait(job->stream);
	if (*out_status != 0)
		return true;
	const double start_ns = tfs_staging_now();
	*out_status = (uint32_t)tfs_staging_call(op, 0);
	tfs_staging_keep_pageable(job, tfs_staging_now() - start_ns);
	return true;
}
