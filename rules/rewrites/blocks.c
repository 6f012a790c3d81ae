/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/blocks.h"

#include <string.h>

#include "rules/rewrites/memory_functions.h"
#include "shim/capture.h"
#include "shim/env.h"
#include "shim/spin.h"
#include "shim/streams.h"

#define SLOTS 256u
#define LANES 16u

/* Tests only, option `naive`: what the contracts forbid. */
#define NAIVE_STALE 512u     /* blocks keep what the program left in them */
#define NAIVE_HOARD 1024u    /* blocks count as used, and are never given back */
#define NAIVE_ANY_SIZE 2048u /* any block that is large enough will do */
#define NAIVE_TRUST 4096u    /* nothing is said to be unknown */

#define OUT_OF_MEMORY 2u /* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */

enum slot_state { SLOT_EMPTY, SLOT_FILLING, SLOT_HELD, SLOT_LEAVING };

/* A place for a block. Its event outlives the block. */
static struct slot {
	enum slot_state state;
	uint64_t address;
	uint64_t bytes;
	uint32_t device;
	void *context; /* of the block and of the event */
	void *filled;  /* event; NULL: not made yet */
	bool in_order; /* whatever comes later comes behind its filling */
} slots[SLOTS];

/* Where blocks of a device, and a context of it, are filled. */
static struct lane {
	bool used;
	uint32_t device;
	void *context;
	void *stream; /* NULL: being made, or could not be */
} lanes[LANES];

static struct tfs_spin lock;
_Atomic uint32_t tfs_blocks_count;

static bool is_naive(uint64_t what)
{
	return (tfs_options.naive & what) != 0;
}

static void set_state(struct slot *slot, enum slot_state state)
{
	tfs_spin_lock(&lock);
	slot->state = state;
	tfs_spin_unlock(&lock);
}

/* An empty slot; best one whose event is of the same context. */
static struct slot *reserve(const struct tfs_memory_call *call, void *context, bool in_order)
{
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];

		if (slot->state != SLOT_EMPTY)
			continue;
		if (slot->filled != NULL && slot->device == call->device &&
			slot->context == context) {
			found = slot;
			break;
		}
		if (slot->filled == NULL && found == NULL)
			found = slot;
	}
	if (found != NULL) {
		found->state = SLOT_FILLING;
		found->address = (uint64_t)(uintptr_t)call->address;
		found->bytes = call->bytes;
		found->device = call->device;
		found->context = context;
		found->in_order = in_order;
	}
	tfs_spin_unlock(&lock);
	return found;
}

static struct lane *find_lane(uint32_t device, const void *context, bool *out_fresh)
{
	struct lane *found = NULL;

	*out_fresh = false;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < LANES && found == NULL; i++)
		if (lanes[i].used && lanes[i].device == device && lanes[i].context == context)
			found = &lanes[i];
	for (uint32_t i = 0; i < LANES && found == NULL; i++) {
		if (!lanes[i].used) {
			found = &lanes[i];
			*found = (struct lane){
				.used = true, .device = device, .context = (void *)context};
			*out_fresh = true;
		}
	}
	tfs_spin_unlock(&lock);
	return found;
}

/* The stream that blocks are filled on: one of ours, that waits for none and none for it. The
 * device is drained before, and a block is handed out only after its event. */
static void *stream_of(const struct tfs_memory_functions *use, uint32_t device, const void *context)
{
	bool fresh;
	void *stream = NULL;
	struct lane *lane = find_lane(device, context, &fresh);

	if (lane != NULL && fresh && use->stream_create(&stream) == 0)
		__atomic_store_n(&lane->stream, stream, __ATOMIC_RELEASE);
	return lane != NULL ? __atomic_load_n(&lane->stream, __ATOMIC_ACQUIRE) : NULL;
}

static bool fill(const struct tfs_memory_functions *use, struct slot *slot, int value)
{
	void *stream =
		slot->in_order ? TFS_STREAM_IN_ORDER : stream_of(use, slot->device, slot->context);

	return stream != NULL && (slot->filled != NULL || use->event_create(&slot->filled) == 0) &&
	       (is_naive(NAIVE_STALE) || use->fill((void *)(uintptr_t)slot->address, value,
						 slot->bytes, stream) == 0) &&
	       use->event_record(slot->filled, stream) == 0;
}

bool tfs_blocks_put(const struct tfs_memory_functions *use, const struct tfs_memory_call *call,
	int value, bool in_order)
{
	struct slot *slot = reserve(call, tfs_context_now(), in_order);

	if (slot == NULL)
		return false;
	atomic_fetch_add(&tfs_blocks_count, 1);
	if (fill(use, slot, value)) {
		set_state(slot, SLOT_HELD);
		return true;
	}
	use->forget_error();
	set_state(slot, SLOT_EMPTY);
	atomic_fetch_sub(&tfs_blocks_count, 1);
	return false;
}

void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_memory_call *call)
{
	const void *context = tfs_context_now();
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS && found == NULL; i++) {
		const struct slot *slot = &slots[i];

		if (slot->state == SLOT_HELD &&
			(slot->bytes == call->bytes ||
				(is_naive(NAIVE_ANY_SIZE) && slot->bytes > call->bytes)) &&
			slot->device == call->device && slot->context == context)
			found = &slots[i];
	}
	if (found != NULL)
		found->state = SLOT_LEAVING;
	tfs_spin_unlock(&lock);
	if (found == NULL)
		return NULL;
	/* Fails only when the device has: then the block is lost with everything else on it. */
	const bool good =
		(found->in_order && !tfs_streams_free()) || use->event_wait(found->filled) == 0;
	void *address = (void *)(uintptr_t)found->address;
	set_state(found, SLOT_EMPTY);
	atomic_fetch_sub(&tfs_blocks_count, 1);
	return good ? address : NULL;
}

uint64_t tfs_blocks_bytes(uint32_t device)
{
	uint64_t bytes = 0;

	if (!tfs_blocks_any() || is_naive(NAIVE_HOARD))
		return 0;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i].state != SLOT_EMPTY && slots[i].state != SLOT_LEAVING &&
			slots[i].device == device)
			bytes += slots[i].bytes;
	tfs_spin_unlock(&lock);
	return bytes;
}

/* What belongs to a device, or to one context if that is not NULL. */
struct owner {
	uint32_t device;
	const void *context;
};

static bool owns(struct owner owner, uint32_t device, const void *context)
{
	return owner.context != NULL ? context == owner.context : device == owner.device;
}

static struct slot *leaving(struct owner owner)
{
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS && found == NULL; i++)
		if (slots[i].state == SLOT_HELD && owns(owner, slots[i].device, slots[i].context))
			found = &slots[i];
	if (found != NULL)
		found->state = SLOT_LEAVING;
	tfs_spin_unlock(&lock);
	return found;
}

static bool flush(bool driver, struct owner owner)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(driver);
	struct slot *slot;
	bool any = false;

	while (use != NULL && (slot = leaving(owner)) != NULL) {
		any = true;
		use->release((void *)(uintptr_t)slot->address);
		set_state(slot, SLOT_EMPTY);
		atomic_fetch_sub(&tfs_blocks_count, 1);
	}
	return any;
}

bool tfs_blocks_flush(bool driver, uint32_t device)
{
	return tfs_blocks_any() && flush(driver, (struct owner){.device = device});
}

static void end(bool driver, struct owner owner)
{
	if (tfs_blocks_any())
		flush(driver, owner);
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (owns(owner, slots[i].device, slots[i].context))
			slots[i].filled = NULL;
	for (uint32_t i = 0; i < LANES; i++)
		if (owns(owner, lanes[i].device, lanes[i].context))
			lanes[i] = (struct lane){0};
	tfs_spin_unlock(&lock);
}

void tfs_blocks_end_device(bool driver, uint32_t device)
{
	end(driver, (struct owner){.device = device});
}

void tfs_blocks_end_context(const void *context)
{
	end(true, (struct owner){.context = context});
}

bool tfs_blocks_make_room(bool driver, uint32_t status, uint32_t device)
{
	if (status != OUT_OF_MEMORY || !tfs_blocks_any() || tfs_capturing() ||
		is_naive(NAIVE_HOARD) || tfs_blocks_bytes(device) == 0)
		return false;
	const struct tfs_memory_functions *use = tfs_memory_functions(driver);

	if (use != NULL)
		use->forget_error();
	return tfs_blocks_flush(driver, device);
}

void tfs_blocks_before(bool driver, uint32_t device)
{
	const struct tfs_memory_functions *use =
		tfs_blocks_any() && !tfs_capturing() ? tfs_memory_functions(driver) : NULL;

	if (use != NULL && use->error_waits())
		tfs_blocks_flush(driver, device);
}

void *tfs_blocks_outside(const void *address)
{
	static char nothing;
	const uint64_t at = (uint64_t)(uintptr_t)address;
	bool inside = false;

	if (!tfs_blocks_any() || is_naive(NAIVE_TRUST))
		return (void *)(uintptr_t)at;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS && !inside; i++)
		inside = (slots[i].state == SLOT_FILLING || slots[i].state == SLOT_HELD) &&
			 at - slots[i].address < slots[i].bytes;
	tfs_spin_unlock(&lock);
	return inside ? &nothing : (void *)(uintptr_t)at;
}

void tfs_blocks_forget(void)
{
	memset(slots, 0, sizeof(slots));
	memset(lanes, 0, sizeof(lanes));
	atomic_store(&tfs_blocks_count, 0);
	tfs_spin_unlock(&lock);
}
