/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/sync_narrowing/narrowed_wait.h"

#include <stdatomic.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/rewrites/common/work.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/streams.h"

#define EVENTS 64u
#define FENCE_BYTES 256u

#define NAMING_NS UINT64_C(1000000000)

static struct tfs_spin lock; /* of the events */
/* Threads that name streams: none must end between the look at it and the event that is recorded on
 * it. */
static atomic_uint naming;
static struct {
	void *event;
	bool taken;
} events[EVENTS];
static _Atomic(void *) fence;
static _Atomic bool stream_ended; /* or is about to */
static _Atomic uint64_t owed;     /* by the latest narrowed wait: all up to this number, */
static _Atomic uint64_t paid;     /* and what of that was waited for since */

bool tfs_narrowed_in_order(void)
{
	return !tfs_streams_free() && !atomic_load(&stream_ended);
}

/* No stream is named any more once the program goes on to destroy it; but who names one may wait
 * for room in its queue, which this thread may be about to make. */
void tfs_narrowed_end_stream(void)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	atomic_store(&stream_ended, true);
	while (atomic_load(&naming) > 0 && tfs_clock_ns(CLOCK_MONOTONIC) - start_ns < NAMING_NS)
		tfs_spin_pause();
}

static void give_back(const uint32_t *taken, uint32_t count)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < count; i++)
		events[taken[i]].taken = false;
	tfs_spin_unlock(&lock);
}

/* The number of an event of ours; EVENTS when there is none left. */
static uint32_t take_event(const struct tfs_memory_functions *use)
{
	uint32_t i = 0;

	tfs_spin_lock(&lock);
	while (i < EVENTS && events[i].taken)
		i++;
	if (i < EVENTS)
		events[i].taken = true;
	tfs_spin_unlock(&lock);
	if (i == EVENTS || events[i].event ||
		use->event_create(&events[i].event, TFS_MEMORY_EVENT) == 0)
		return i;
	give_back(&i, 1);
	return EVENTS;
}

/* Records an event on each stream with visible work; how many were taken. */
static uint32_t name_streams(const struct tfs_memory_functions *use, const struct tfs_work *work,
	uint32_t *taken, bool *out_good)
{
	uint32_t count = 0;
	bool good = true;

	atomic_fetch_add(&naming, 1);
	for (uint32_t i = 0; i < work->visible && good; i++) {
		taken[count] = take_event(use);
		if (taken[count] == EVENTS) {
			good = false;
			break;
		}
		const uint32_t event = taken[count++];
		good = tfs_narrowed_in_order() && use->event_record(events[event].event,
							  tfs_stream_handle(work->streams[i])) == 0;
	}
	atomic_fetch_sub(&naming, 1);
	*out_good = good;
	return count;
}

/* By events, since another thread of the program may destroy the streams meanwhile. */
bool tfs_narrowed_wait(const struct tfs_memory_functions *use, const struct tfs_work *work)
{
	uint32_t taken[TFS_WORK_STREAMS];
	bool good;
	const uint32_t count = name_streams(use, work, taken, &good);

	for (uint32_t i = 0; i < count; i++)
		good = good && use->event_wait(events[taken[i]].event) == 0;
	give_back(taken, count);
	return good;
}

void tfs_narrowed_get_fence(const struct tfs_memory_functions *use)
{
	void *memory = NULL;

	if (fence)
		return;
	if (use->alloc(&memory, FENCE_BYTES) != 0) {
		use->forget_error();
		return;
	}
	tfs_spin_lock(&lock);
	const bool first = !fence;
	if (first)
		fence = memory;
	tfs_spin_unlock(&lock);
	if (!first)
		use->release(memory);
}

bool tfs_narrowed_put_fence(const struct tfs_memory_functions *use)
{
	return TFS_MUTANT(TFS_NAIVE_NO_FENCE) ||
	       (fence && use->fill(fence, 0, FENCE_BYTES, TFS_STREAM_IN_ORDER) == 0);
}

void tfs_narrowed_owe(uint64_t number)
{
	atomic_store(&owed, number);
}

void tfs_narrowed_paid(uint64_t number)
{
	atomic_store(&paid, number);
}

void tfs_narrowed_pay(const struct tfs_memory_functions *use)
{
	const uint64_t debt = atomic_load(&owed);

	if (debt <= atomic_load(&paid) || TFS_MUTANT(TFS_NAIVE_ANSWERS))
		return;
	const bool waits = use->error_waits() != 0;
	if (use->drain() != 0 && !waits)
		use->forget_error();
	atomic_store(&paid, debt);
}

void tfs_narrowed_reset(void)
{
	tfs_spin_lock(&lock);
	memset(events, 0, sizeof(events));
	fence = NULL;
	tfs_spin_unlock(&lock);
}
