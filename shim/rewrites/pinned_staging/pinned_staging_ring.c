/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_ring.h"

#include <stdatomic.h>

#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/pinned_staging/pinned_staging_limits.h"

/* Mutants: what the contract forbids. */
#define NAIVE_KEEP (1u << 21) /* goes on with the ring of a device that was reset */

#define MOST_RINGS 16u
#define FEWEST_CHUNKS 2u
#define PORTABLE 1u       /* both layers' flag: pinned for all contexts */
#define WITHOUT_TIMING 2u /* both layers' flag */

static struct slot {
	struct tfs_staging_ring ring;
	_Atomic bool taken;                                /* only ever tried */
	_Atomic bool stale;                                /* its device was reset */
	_Atomic(const struct tfs_staging_device *) device; /* NULL: no ring here */
	_Atomic uint64_t key;
	_Atomic uint32_t number; /* of its device */
} slots[MOST_RINGS];
static _Atomic bool making;   /* only ever tried */
static _Atomic bool failed;   /* the driver would not pin */
static uint64_t pinned_bytes; /* guarded by `making` */

static bool try(_Atomic bool *lock)
{
	return !atomic_exchange_explicit(lock, true, memory_order_acquire);
}

static void unlock(_Atomic bool *lock)
{
	atomic_store_explicit(lock, false, memory_order_release);
}

/* A ring of the context that no other thread has, taken; or else NULL. */
static struct slot *find(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, bool *out_any)
{
	*out_any = false;
	for (uint32_t i = 0; i < MOST_RINGS; i++) {
		struct slot *slot = &slots[i];

		if (atomic_load(&slot->device) != device || atomic_load(&slot->key) != context->key)
			continue;
		*out_any = true;
		if (!try(&slot->taken))
			continue;
		/* It may have become another's in between. */
		if (atomic_load(&slot->device) == device && atomic_load(&slot->key) == context->key)
			return slot;
		unlock(&slot->taken);
	}
	return NULL;
}

/* Reset and destroyed contexts take their events and pinned memory with them. The slot is taken. */
static bool is_gone(struct slot *slot)
{
	const struct tfs_staging_ring *ring = &slot->ring;
	const uint64_t now = tfs_staging_stamp(ring->device, ring->chunks[0].memory);

	if (TFS_MUTANT(NAIVE_KEEP))
		return false;
	return atomic_load(&slot->stale) || (now != ring->stamp && now != TFS_STAMP_UNKNOWN);
}

/* What goes with its context is never freed by us. Both locks are held. */
static void drop(struct slot *slot)
{
	pinned_bytes -= slot->ring.count * TFS_STAGING_CHUNK;
	slot->ring.count = 0;
	atomic_store(&slot->key, 0);
	atomic_store(&slot->device, NULL);
	atomic_store(&slot->stale, false);
}

/* Rings of contexts that were destroyed are found only here. */
static struct slot *find_free(void)
{
	for (uint32_t i = 0; i < MOST_RINGS; i++) {
		struct slot *slot = &slots[i];

		if (!try(&slot->taken))
			continue;
		if (atomic_load(&slot->device) && is_gone(slot))
			drop(slot);
		if (!atomic_load(&slot->device))
			return slot;
		unlock(&slot->taken);
	}
	return NULL;
}

static void destroy_events(struct tfs_staging_ring *ring)
{
	for (uint32_t i = 0; i < TFS_STAGING_CHUNKS; i++)
		if (ring->chunks[i].passed)
			ring->device->event_destroy(ring->chunks[i].passed);
	for (uint32_t i = 0; i < 2; i++)
		if (ring->probe[i])
			ring->device->event_destroy(ring->probe[i]);
	if (ring->mark)
		ring->device->event_destroy(ring->mark);
}

static int fill(struct tfs_staging_ring *ring, uint32_t count)
{
	const struct tfs_staging_device *device = ring->device;
	struct tfs_staging_policy policy;
	void *memory = NULL;

	tfs_staging_near(device, ring->context.device, "/sys", &policy);
	int status = device->pin(&memory, count * TFS_STAGING_CHUNK, PORTABLE);
	tfs_staging_near_end(&policy);
	for (uint32_t i = 0; i < count && status == 0; i++) {
		ring->chunks[i].memory = (char *)memory + i * TFS_STAGING_CHUNK;
		status = device->event_create(&ring->chunks[i].passed, WITHOUT_TIMING);
	}
	for (uint32_t i = 0; i < 2 && status == 0; i++)
		status = device->event_create(&ring->probe[i], 0);
	if (status == 0)
		status = device->event_create(&ring->mark, WITHOUT_TIMING);
	if (status == 0)
		ring->stamp = tfs_staging_stamp(device, memory);
	if (status != 0 || ring->stamp == 0) {
		destroy_events(ring);
		if (memory)
			device->unpin(memory);
		return -1;
	}
	return 0;
}

/* Both locks are held. */
static enum tfs_staging_ring_answer make(struct slot *slot, const struct tfs_staging_device *device,
	const struct tfs_staging_context *context)
{
	const uint64_t left = tfs_options.staging_limit_bytes > pinned_bytes
				      ? tfs_options.staging_limit_bytes - pinned_bytes
				      : 0;
	const uint64_t most = left / TFS_STAGING_CHUNK;
	const uint32_t count = most < TFS_STAGING_CHUNKS ? (uint32_t)most : TFS_STAGING_CHUNKS;
	struct tfs_staging_ring *ring = &slot->ring;

	/* An error that waits for the program to ask must not be covered by one of ours. */
	if (atomic_load(&failed) || count < FEWEST_CHUNKS || tfs_staging_has_error(device))
		return TFS_RING_NO_MEMORY;
	if (!tfs_staging_has_room(count * TFS_STAGING_CHUNK))
		return TFS_RING_NO_SPACE;
	ring->device = device;
	ring->context = *context;
	ring->next = 0;
	ring->probed = NULL;
	for (uint32_t i = 0; i < TFS_STAGING_CHUNKS; i++)
		ring->chunks[i] = (struct tfs_staging_chunk){0};
	ring->probe[0] = ring->probe[1] = ring->mark = NULL;
	if (fill(ring, count) != 0) {
		tfs_staging_drop_error(device);
		atomic_store(&failed, true);
		return TFS_RING_NO_MEMORY;
	}
	ring->count = count;
	pinned_bytes += count * TFS_STAGING_CHUNK;
	tfs_recorder_fact(TFS_FACT_staging_pinned, NULL, pinned_bytes, 0);
	atomic_store(&slot->key, context->key);
	atomic_store(&slot->number, (uint32_t)context->device);
	atomic_store(&slot->device, device);
	return TFS_RING_TAKEN;
}

/* Where a context has a ring already, another one is for threads that copy at the same time; half
 * of what may be pinned stays for other contexts. */
static enum tfs_staging_ring_answer make_one(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, bool another, struct slot **out_slot)
{
	enum tfs_staging_ring_answer answer = TFS_RING_BUSY;
	const uint64_t bytes = TFS_STAGING_CHUNKS * TFS_STAGING_CHUNK;

	if (!try(&making))
		return answer;
	const bool allowed =
		!another || pinned_bytes + bytes <= tfs_options.staging_limit_bytes / 2;
	struct slot *slot = allowed ? find_free() : NULL;
	if (slot) {
		answer = make(slot, device, context);
		if (answer == TFS_RING_TAKEN)
			*out_slot = slot;
		else
			unlock(&slot->taken);
	}
	unlock(&making);
	return another && answer != TFS_RING_TAKEN ? TFS_RING_BUSY : answer;
}

static enum tfs_staging_ring_answer take_slot(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, struct slot **out_slot)
{
	bool any;
	struct slot *slot = find(device, context, &any);

	if (slot && !is_gone(slot)) {
		*out_slot = slot;
		return TFS_RING_TAKEN;
	}
	/* The context was reset: its ring makes place for a new one. */
	if (slot) {
		if (!try(&making)) {
			unlock(&slot->taken);
			return TFS_RING_BUSY;
		}
		drop(slot);
		unlock(&making);
		unlock(&slot->taken);
	}
	return make_one(device, context, !slot && any, out_slot);
}

enum tfs_staging_ring_answer tfs_staging_ring_take(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, void *stream, struct tfs_staging_ring **out_ring)
{
	enum tfs_staging_ring_answer answer;
	struct slot *slot = NULL;

	answer = take_slot(device, context, &slot);
	if (answer != TFS_RING_TAKEN)
		return answer;
	if (!tfs_staging_can_record(device, slot->ring.mark, stream)) {
		tfs_staging_ring_give(&slot->ring);
		return TFS_RING_NO_STREAM;
	}
	*out_ring = &slot->ring;
	return answer;
}

void tfs_staging_ring_give(struct tfs_staging_ring *ring)
{
	unlock(&((struct slot *)ring)->taken);
}

/* A ring of the driver's layer says itself whether it is still there. */
void tfs_staging_ring_reset(uint32_t device)
{
	for (uint32_t i = 0; i < MOST_RINGS; i++) {
		const struct tfs_staging_device *of = atomic_load(&slots[i].device);

		if (of && !of->driver && atomic_load(&slots[i].number) == device)
			atomic_store(&slots[i].stale, true);
	}
}
