/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/pinned_staging_move.h"

#include <driver_types.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "shim/clock.h"
#include "shim/mutant.h"

#define AHEAD 3u           /* chunks that are being filled at a time */
#define SAMPLES 4u         /* copies that each rate is taken from */
#define UNSAMPLED 16u      /* copies after which the usual rates must do */
#define USUAL_PAGEABLE 8e0 /* bytes per ns: PCIe 4, one thread */
#define USUAL_PINNED 25e0

/* In bytes per nanosecond; guesses, which several threads may write at once. */
static struct rates {
	double pageable; /* best seen */
	double pinned;   /* best seen */
	double staged;   /* on the host's side; mean of the latest */
	uint32_t pageable_samples;
	uint32_t pinned_samples;
	uint32_t staged_samples;
} rates[2][2]; /* to the host or not; from TFS_STAGING_MANY on or not */

static struct rates *rates_of(bool out, size_t bytes)
{
	return &rates[out][bytes >= TFS_STAGING_MANY];
}

static void keep_rate(double *rate, uint32_t *samples, double bytes, double ns)
{
	if (ns > 0 && bytes / ns > *rate)
		*rate = bytes / ns;
	(*samples)++;
}

/* The first copy had to make the ring. */
static void keep_mean(double *rate, uint32_t *samples, double bytes, double ns)
{
	const uint32_t weight = *samples < 8 ? *samples : 8;

	if (ns > 0 && weight > 0)
		*rate += (bytes / ns - *rate) / weight;
	(*samples)++;
}

static double now(void)
{
	return (double)tfs_clock_ns(CLOCK_MONOTONIC);
}

/* The chunk's transfer is over: how long did it take? */
static void read_probe(struct tfs_staging_ring *ring, const struct tfs_staging_chunk *chunk)
{
	struct rates *one = rates_of(ring->probed_out, ring->probed_bytes);
	float ms = 0;

	if (ring->probed != chunk)
		return;
	ring->probed = NULL;
	if (ring->device->event_elapsed(&ms, ring->probe[0], ring->probe[1]) == 0)
		keep_rate(&one->pinned, &one->pinned_samples, (double)ring->probed_bytes,
			(double)ms * 1e6);
}

static int wait_for(struct tfs_staging_ring *ring, struct tfs_staging_chunk *chunk)
{
	int status = 0;

	if (chunk->used) {
		const double start_ns = now();

		status = ring->device->event_wait(chunk->passed);
		ring->waited_ns += now() - start_ns;
	}
	if (status == 0)
		read_probe(ring, chunk);
	return status;
}

/* Between the chunk and the device, on the program's stream. */
static int transfer(struct tfs_staging_ring *ring, const struct tfs_staging_job *job,
	struct tfs_staging_chunk *chunk, size_t offset)
{
	const struct tfs_staging_device *device = ring->device;
	const struct tfs_copy_call *call = job->call;
	const bool probing =
		ring->probed == NULL && rates_of(job->out, chunk->bytes)->pinned_samples < SAMPLES;
	int status = probing ? device->event_record(ring->probe[0], job->stream) : 0;

	if (status == 0)
		status = job->out ? tfs_staging_copy_on(device, chunk->memory,
					    (const char *)call->source + offset, chunk->bytes,
					    cudaMemcpyDeviceToHost, job->stream)
				  : tfs_staging_copy_on(device, (char *)call->target + offset,
					    chunk->memory, chunk->bytes, cudaMemcpyHostToDevice,
					    job->stream);
	if (status == 0 && probing)
		status = device->event_record(ring->probe[1], job->stream);
	if (status == 0 && probing) {
		ring->probed = chunk;
		ring->probed_bytes = chunk->bytes;
		ring->probed_out = job->out;
	}
	if (status == 0)
		status = device->event_record(chunk->passed, job->stream);
	chunk->used = status == 0;
	chunk->stream = tfs_staging_stream_key(job->stream);
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
	const struct tfs_staging_chunk *chunk, size_t offset)
{
	static struct late late[TFS_STAGING_CHUNKS];
	struct late *one = &late[chunk - ring->chunks];

	*one = (struct late){chunk->memory, (const char *)job->call->source + offset, chunk->bytes};
	ring->device->call(job->stream, read_late, one);
}

static void start_chunk(
	const struct tfs_staging_job *job, struct tfs_staging_chunk *chunk, size_t offset)
{
	const size_t rest = job->call->bytes - offset;

	chunk->bytes = rest < TFS_STAGING_CHUNK ? rest : TFS_STAGING_CHUNK;
}

/* Fills as many chunks ahead as are free, so that the threads have something to do while the ones
 * before are on their way. */
static int send(struct tfs_staging_ring *ring, const struct tfs_staging_job *job)
{
	const size_t count = (job->call->bytes + TFS_STAGING_CHUNK - 1) / TFS_STAGING_CHUNK;
	const size_t ahead = ring->usable_count < AHEAD ? ring->usable_count : AHEAD;
	const bool late = TFS_MUTANT(TFS_STAGING_NAIVE_LATE);
	size_t opened = 0;
	int status = 0;

	for (size_t sent = 0; sent < count && status == 0; sent++) {
		struct tfs_staging_chunk *chunk = ring->usable[sent % ring->usable_count];

		while (opened < count && opened - sent < ahead && status == 0) {
			struct tfs_staging_chunk *next = ring->usable[opened % ring->usable_count];
			const size_t offset = opened * TFS_STAGING_CHUNK;

			if (opened > sent && next->used &&
				!tfs_staging_is_ready(ring->device, next->passed))
				break;
			status = wait_for(ring, next);
			if (status != 0)
				break;
			start_chunk(job, next, offset);
			next->used = false;
			opened++;
			if (late)
				continue;
			next->last_piece = tfs_staging_pieces_open(&ring->pieces, next->memory,
				(const char *)job->call->source + offset, next->bytes, false);
		}
		if (status != 0)
			break;
		if (late)
			be_late(ring, job, chunk, sent * TFS_STAGING_CHUNK);
		else
			tfs_staging_pieces_finish(&ring->pieces, chunk->last_piece);
		if (TFS_MUTANT(TFS_STAGING_NAIVE_WRONG))
			chunk->memory[chunk->bytes / 2] ^= 1;
		status = transfer(ring, job, chunk, sent * TFS_STAGING_CHUNK);
	}
	/* Whatever happened: nobody reads the program's memory any more. */
	tfs_staging_pieces_finish(&ring->pieces, atomic_load(&ring->pieces.opened));
	return status;
}

/* Keeps transfers going into free chunks while the threads empty the full ones. */
static int receive(struct tfs_staging_ring *ring, const struct tfs_staging_job *job)
{
	const size_t count = (job->call->bytes + TFS_STAGING_CHUNK - 1) / TFS_STAGING_CHUNK;
	const size_t behind = ring->pieces.helpers > 0 ? ring->usable_count / 2 : 0;
	size_t asked = 0;
	size_t emptied = 0;
	int status = 0;

	for (size_t landed = 0; landed < count && status == 0; landed++) {
		for (; asked < count && asked - emptied < ring->usable_count && status == 0;
			asked++) {
			struct tfs_staging_chunk *next = ring->usable[asked % ring->usable_count];

			if (asked < ring->usable_count)
				status = wait_for(ring, next);
			start_chunk(job, next, asked * TFS_STAGING_CHUNK);
			if (status == 0)
				status = transfer(ring, job, next, asked * TFS_STAGING_CHUNK);
		}
		struct tfs_staging_chunk *chunk = ring->usable[landed % ring->usable_count];
		if (status == 0)
			status = wait_for(ring, chunk);
		if (status != 0)
			break;
		if (TFS_MUTANT(TFS_STAGING_NAIVE_WRONG))
			chunk->memory[chunk->bytes / 2] ^= 1;
		chunk->used = false;
		chunk->last_piece = tfs_staging_pieces_open(&ring->pieces,
			(char *)job->call->target + landed * TFS_STAGING_CHUNK, chunk->memory,
			chunk->bytes, true);
		for (; emptied + behind <= landed; emptied++)
			tfs_staging_pieces_finish(&ring->pieces,
				ring->usable[emptied % ring->usable_count]->last_piece);
	}
	tfs_staging_pieces_finish(&ring->pieces, atomic_load(&ring->pieces.opened));
	return status;
}

static void waste_time(void)
{
	const double end_ns = now() + 5e6;

	while (now() < end_ns)
		sched_yield();
}

int tfs_staging_move(struct tfs_staging_ring *ring, const struct tfs_staging_job *job)
{
	struct rates *one = rates_of(job->out, job->call->bytes);
	const double start_ns = now();
	int status = job->call->async ? 0 : ring->device->wait(job->stream);

	if (status != 0)
		return status;
	ring->waited_ns = now() - start_ns;
	tfs_staging_pieces_begin(&ring->pieces, job->call->bytes);
	status = job->out ? receive(ring, job) : send(ring, job);
	if (TFS_MUTANT(TFS_STAGING_NAIVE_MODEL))
		waste_time();
	ring->spent_ns = now() - (double)job->begun_ns - ring->waited_ns;
	keep_mean(&one->staged, &one->staged_samples, (double)job->call->bytes, ring->spent_ns);
	if (TFS_MUTANT(TFS_STAGING_NAIVE_SLOW))
		waste_time();
	return status;
}

bool tfs_staging_sample(
	struct tfs_staging_ring *ring, const struct tfs_staging_job *job, uint32_t *out_status)
{
	const struct tfs_copy_call *call = job->call;
	struct rates *one = rates_of(job->out, call->bytes);

	/* The other forms of the function are not at hand here. */
	if (call->async || call->per_thread || one->staged_samples < SAMPLES ||
		one->pageable_samples >= SAMPLES)
		return false;
	*out_status = (uint32_t)ring->device->wait(job->stream);
	if (*out_status != 0)
		return true;
	const double start_ns = now();
	*out_status = (uint32_t)tfs_staging_copy(
		ring->device, call->target, call->source, call->bytes, call->kind);
	keep_rate(&one->pageable, &one->pageable_samples, (double)call->bytes, now() - start_ns);
	return true;
}

bool tfs_staging_is_faster(const struct tfs_staging_job *job)
{
	const struct rates *one = rates_of(job->out, job->call->bytes);
	const double staged =
		one->pinned > 0 && one->pinned < one->staged ? one->pinned : one->staged;

	return one->pageable_samples < SAMPLES || one->staged_samples < 2 * SAMPLES ||
	       staged > one->pageable;
}

double tfs_staging_gain(const struct tfs_staging_job *job, const struct tfs_staging_ring *ring)
{
	const struct rates *one = rates_of(job->out, job->call->bytes);
	const double bytes = (double)job->call->bytes;
	const double pageable = one->pageable > 0 ? one->pageable : USUAL_PAGEABLE;
	const double pinned = one->pinned > 0 ? one->pinned : USUAL_PINNED;
	const double transfer_ns = bytes / pinned;

	if ((one->pageable_samples == 0 || one->pinned_samples == 0) &&
		one->staged_samples < UNSAMPLED)
		return NAN;
	return bytes / pageable - (ring->spent_ns > transfer_ns ? ring->spent_ns : transfer_ns);
}
