/* SPDX-License-Identifier: MIT */
/* The rings of pinned-staging, on a made-up device: who gets one, how much is pinned, and that what
 * was made is given back. Each case in a process of its own, whose rings are all free. */
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/rewrites/pinned_staging/pinned_staging_ring.h"
#include "tests/test.h"

#define RING (TFS_STAGING_CHUNKS * TFS_STAGING_CHUNK)
#define MOST_RINGS 16u
#define STREAM ((void *)0x1000)
#define EVENTS (TFS_STAGING_CHUNKS + 3u) /* of a ring */

static unsigned pins, unpins;
static unsigned events_made, events_gone;
static unsigned failing_event; /* the one that cannot be made; 0 = none */
static int error_waiting, errors_taken, record_status;
static enum cudaMemoryType memory_type = cudaMemoryTypeHost;

static int pin(void **out, size_t bytes, unsigned flags)
{
	(void)flags;
	pins++;
	*out = malloc(bytes);
	return *out ? 0 : 2;
}

static int unpin(void *memory)
{
	unpins++;
	free(memory);
	return 0;
}

static int event_create(void **out, unsigned flags)
{
	(void)flags;
	if (events_made + 1 == failing_event)
		return 2;
	events_made++;
	*out = malloc(1);
	return 0;
}

static int event_destroy(void *event)
{
	events_gone++;
	free(event);
	return 0;
}

static int event_record(void *event, void *stream)
{
	(void)event, (void)stream;
	return record_status;
}

static int bus_id(char *out, int bytes, int device)
{
	(void)out, (void)bytes, (void)device;
	return 1;
}

static int peek_error(void)
{
	return error_waiting;
}

static int take_error(void)
{
	errors_taken++;
	return 2;
}

static int pointer(struct cudaPointerAttributes *out, const void *address)
{
	(void)address;
	*out = (struct cudaPointerAttributes){.type = memory_type};
	return 0;
}

static const struct tfs_staging_device device = {.pin = pin,
	.unpin = unpin,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.bus_id = bus_id,
	.peek_error = peek_error,
	.take_error = take_error,
	.pointer = (void *)pointer};

static struct tfs_staging_ring *ring;

static enum tfs_staging_ring_answer take(uint64_t key, int number)
{
	const struct tfs_staging_context context = {.key = key, .device = number};

	return tfs_staging_ring_take(&device, &context, STREAM, &ring);
}

/* A ring has as many chunks as may be pinned; one alone is no ring. */
static void limits(void)
{
	tfs_options.staging_limit_bytes = 2 * TFS_STAGING_CHUNK - 1;
	TEST_EQ(take(1, 0), TFS_RING_NO_MEMORY);
	TEST_EQ(pins, 0);
	tfs_options.staging_limit_bytes = 2 * TFS_STAGING_CHUNK;
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_EQ(ring->count, 2);
	TEST_EQ(take(2, 0), TFS_RING_NO_MEMORY);
	tfs_options.staging_limit_bytes = 5 * TFS_STAGING_CHUNK;
	TEST_EQ(take(2, 0), TFS_RING_TAKEN);
	TEST_EQ(ring->count, 3);
	tfs_options.staging_limit_bytes = 4 * RING;
	TEST_EQ(take(3, 0), TFS_RING_TAKEN);
	TEST_EQ(ring->count, TFS_STAGING_CHUNKS);
	TEST_EQ(pins, 3);
	for (uint32_t i = 1; i < ring->count; i++)
		TEST_EQ(ring->chunks[i].memory - ring->chunks[i - 1].memory, TFS_STAGING_CHUNK);
}

/* An error that waits for the program is not covered by one of ours. */
static void error_waits(void)
{
	error_waiting = 2;
	TEST_EQ(take(1, 0), TFS_RING_NO_MEMORY);
	TEST_EQ(pins + events_made, 0);
	error_waiting = 0;
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_EQ(errors_taken, 0);
}

/* Each context has its own, as long as there are any. */
static void contexts(void)
{
	tfs_options.staging_limit_bytes = 2 * MOST_RINGS * RING;
	for (uint64_t key = 1; key <= MOST_RINGS; key++)
		TEST_EQ(take(key, 0), TFS_RING_TAKEN);
	TEST_EQ(take(MOST_RINGS + 1, 0), TFS_RING_BUSY);
	TEST_EQ(pins, MOST_RINGS);
	tfs_staging_ring_give(ring);
	TEST_EQ(take(MOST_RINGS, 0), TFS_RING_TAKEN);
	TEST_EQ(pins, MOST_RINGS);
}

/* Of one context a second one, while the first is in use; half of the limit stays for others. */
static void another(void)
{
	tfs_options.staging_limit_bytes = 4 * RING;
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	struct tfs_staging_ring *const first = ring;

	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_TRUE(ring != first);
	TEST_EQ(take(1, 0), TFS_RING_BUSY);
	TEST_EQ(take(2, 0), TFS_RING_TAKEN);
	tfs_staging_ring_give(first);
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_TRUE(ring == first);
	TEST_EQ(pins, 3);
}

/* What a reset took with it counts no longer as pinned, and is never freed by us. */
static void reset(void)
{
	tfs_options.staging_limit_bytes = RING;
	for (unsigned round = 1; round <= 3; round++) {
		TEST_EQ(take(1, 5), TFS_RING_TAKEN);
		TEST_EQ(ring->count, TFS_STAGING_CHUNKS);
		TEST_EQ(pins, round);
		tfs_staging_ring_give(ring);
		tfs_staging_ring_reset(4);
		TEST_EQ(take(1, 5), TFS_RING_TAKEN);
		TEST_EQ(pins, round);
		tfs_staging_ring_give(ring);
		tfs_staging_ring_reset(5);
	}
	TEST_EQ(unpins + events_gone, 0);
	/* Nor does it stand in the way of another context. */
	TEST_EQ(take(2, 6), TFS_RING_TAKEN);
	TEST_EQ(ring->count, TFS_STAGING_CHUNKS);
}

/* A destroyed context is known by its memory, which is none any more. */
static void destroyed(void)
{
	tfs_options.staging_limit_bytes = RING;
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_EQ(ring->stamp, 1);
	tfs_staging_ring_give(ring);
	TEST_EQ(take(2, 0), TFS_RING_NO_MEMORY);
	ring->stamp = 7; /* the memory at this address is another's now */
	TEST_EQ(take(2, 0), TFS_RING_TAKEN);
	TEST_EQ(ring->count, TFS_STAGING_CHUNKS);
	TEST_EQ(unpins + events_gone, 0);
}

/* A stream that takes no events of the context leaves the ring to others. */
static void no_stream(void)
{
	record_status = 400;
	TEST_EQ(take(1, 0), TFS_RING_NO_STREAM);
	TEST_EQ(errors_taken, 1);
	record_status = 0;
	TEST_EQ(take(1, 0), TFS_RING_TAKEN);
	TEST_EQ(pins, 1);
}

/* Half a ring is given back whole, and none is tried again. */
static void half_made(void)
{
	TEST_EQ(take(1, 0), TFS_RING_NO_MEMORY);
	TEST_EQ(errors_taken, 1);
	TEST_EQ(pins, 1);
	TEST_EQ(unpins, 1);
	TEST_EQ(events_made, failing_event ? failing_event - 1 : EVENTS);
	TEST_EQ(events_gone, events_made);
	failing_event = 0;
	memory_type = cudaMemoryTypeHost;
	TEST_EQ(take(1, 0), TFS_RING_NO_MEMORY);
	TEST_EQ(pins, 1);
}

static void unknown_memory(void)
{
	memory_type = cudaMemoryTypeUnregistered;
	half_made();
}

static void alone(const char *name, void (*test)(void))
{
	int status = -1;

	fflush(stdout);
	const pid_t child = fork();

	TEST_NEED(child >= 0);
	if (child == 0) {
		tfs_options.staging_limit_bytes = 64 * RING;
		test();
		fflush(stdout);
		exit(test_result()); /* not _exit: coverage is counted at the end */
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	if (!TEST_EQ(status, 0))
		printf("in %s, failing event %u\n", name, failing_event);
}

int main(void)
{
	alone("limits", limits);
	alone("error_waits", error_waits);
	alone("contexts", contexts);
	alone("another", another);
	alone("reset", reset);
	alone("destroyed", destroyed);
	alone("no_stream", no_stream);
	alone("unknown_memory", unknown_memory);
	for (failing_event = 1; failing_event <= EVENTS; failing_event++)
		alone("half_made", half_made);
	return test_result();
}
