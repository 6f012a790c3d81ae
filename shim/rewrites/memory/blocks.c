/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/blocks.h"

#include <errno.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/record/op.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/streams.h"

#define SLOTS 256u
#define LANES 16u

/* Mutants: what the contracts forbid. */
#define NAIVE_STALE 512u     /* blocks keep what the program left in them */
#define NAIVE_HOARD 1024u    /* blocks count as used, and are never given back */
#define NAIVE_ANY_SIZE 2048u /* any block that is large enough will do */
#define NAIVE_TRUST 4096u    /* nothing is said to be unknown */

#define NAIVE_DEAD (UINT64_C(1) << 32)   /* blocks are held although their context has ended */
#define NAIVE_BARRED (UINT64_C(1) << 33) /* what captures bar is done all the same */

#define OLD_NS UINT64_C(2000000000) /* whoever wanted it would have come */

/* Ending: its context may be; whoever began that says how it ended. */
enum slot_state { SLOT_EMPTY, SLOT_FILLING, SLOT_HELD, SLOT_LEAVING, SLOT_ENDING };

/* A place for a block. Its event outlives the block. */
static struct slot {
	enum slot_state state;
	uint64_t address;
	uint64_t bytes;
	uint64_t takes; /* in whole pages */
	uint64_t since_ns;
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
static uint32_t top;      /* slots from here on were never used */
static _Atomic bool made; /* something, in whatever context */
_Atomic uint32_t tfs_blocks_count;

static void set_state(struct slot *slot, enum slot_state state)
{
	tfs_spin_lock(&lock);
	slot->state = state;
	tfs_spin_unlock(&lock);
}

/* While there are any, each call is told of before it is made. */
static void count_one(void)
{
	if (atomic_fetch_add(&tfs_blocks_count, 1) == 0)
		tfs_held_begin();
}

static void set_empty(struct slot *slot)
{
	set_state(slot, SLOT_EMPTY);
	if (atomic_fetch_sub(&tfs_blocks_count, 1) == 1)
		tfs_held_end();
}

/* An empty slot; best one whose event is of the same context. */
static struct slot *reserve(const struct tfs_op *op, void *context, bool in_order)
{
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];

		if (slot->state != SLOT_EMPTY)
			continue;
		if (slot->filled && slot->device == op->memory.device && slot->context == context) {
			found = slot;
			break;
		}
		if (!slot->filled && !found)
			found = slot;
	}
	if (found) {
		found->state = SLOT_FILLING;
		found->address = (uint64_t)(uintptr_t)op->memory.address;
		found->bytes = op->memory.bytes;
		found->takes = op->memory.takes;
		found->since_ns = tfs_clock_ns(CLOCK_MONOTONIC);
		found->device = op->memory.device;
		found->context = context;
		found->in_order = in_order;
		if (top <= found - slots)
			top = (uint32_t)(found - slots) + 1;
	}
	tfs_spin_unlock(&lock);
	return found;
}

static struct lane *find_lane(uint32_t device, const void *context, bool *out_fresh)
{
	struct lane *found = NULL;

	*out_fresh = false;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < LANES && !found; i++)
		if (lanes[i].used && lanes[i].device == device && lanes[i].context == context)
			found = &lanes[i];
	for (uint32_t i = 0; i < LANES && !found; i++) {
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

	if (lane && fresh && use->stream_create(&stream, TFS_MEMORY_STREAM) == 0)
		__atomic_store_n(&lane->stream, stream, __ATOMIC_RELEASE);
	return lane ? __atomic_load_n(&lane->stream, __ATOMIC_ACQUIRE) : NULL;
}

static bool fill(const struct tfs_memory_functions *use, struct slot *slot, int value)
{
	void *stream =
		slot->in_order ? TFS_STREAM_IN_ORDER : stream_of(use, slot->device, slot->context);

	return stream &&
	       (slot->filled || use->event_create(&slot->filled, TFS_MEMORY_EVENT) == 0) &&
	       (TFS_MUTANT(NAIVE_STALE) || use->fill((void *)(uintptr_t)slot->address, value,
						   slot->bytes, stream) == 0) &&
	       use->event_record(slot->filled, stream) == 0;
}

bool tfs_blocks_put(
	const struct tfs_memory_functions *use, const struct tfs_op *op, int value, bool in_order)
{
	struct slot *slot = reserve(op, tfs_context_now(), in_order);

	if (!slot)
		return false;
	atomic_store(&made, true);
	count_one();
	if (fill(use, slot, value)) {
		set_state(slot, SLOT_HELD);
		return true;
	}
	use->forget_error();
	set_empty(slot);
	return false;
}

void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	const void *context = tfs_context_now();
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top && !found; i++) {
		const struct slot *slot = &slots[i];

		if (slot->state == SLOT_HELD &&
			(slot->bytes == op->memory.bytes ||
				(TFS_MUTANT(NAIVE_ANY_SIZE) && slot->bytes > op->memory.bytes)) &&
			slot->device == op->memory.device && slot->context == context)
			found = &slots[i];
	}
	if (found)
		found->state = SLOT_LEAVING;
	tfs_spin_unlock(&lock);
	if (!found)
		return NULL;
	/* Fails only when the device has: then the block is lost with everything else on it. */
	const bool good =
		(found->in_order && !tfs_streams_free()) || use->event_wait(found->filled) == 0;
	void *address = (void *)(uintptr_t)found->address;
	set_empty(found);
	return good ? address : NULL;
}

uint64_t tfs_blocks_bytes(uint32_t device)
{
	uint64_t bytes = 0;

	if (!tfs_blocks_any() || TFS_MUTANT(NAIVE_HOARD))
		return 0;
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top; i++)
		if (slots[i].state != SLOT_EMPTY && slots[i].state != SLOT_LEAVING &&
			slots[i].device == device)
			bytes += slots[i].takes;
	tfs_spin_unlock(&lock);
	return bytes;
}

/* Which blocks are meant. */
struct which {
	uint32_t device;       /* or TFS_ALL_DEVICES */
	uint64_t before_ns;    /* held since before then; 0: whenever */
	uint64_t first, other; /* with one of these addresses in them; both 0: whichever */
};

static bool is_meant(const struct slot *slot, const struct which *which)
{
	const bool anywhere = which->first == 0 && which->other == 0;

	return slot->state == SLOT_HELD &&
	       (which->device == TFS_ALL_DEVICES || slot->device == which->device) &&
	       (which->before_ns == 0 || slot->since_ns < which->before_ns) &&
	       (anywhere || which->first - slot->address < slot->bytes ||
		       which->other - slot->address < slot->bytes);
}

static struct slot *leaving(const struct which *which)
{
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top && !found; i++)
		if (is_meant(&slots[i], which))
			found = &slots[i];
	if (found)
		found->state = SLOT_LEAVING;
	tfs_spin_unlock(&lock);
	return found;
}

static bool part(bool driver, const struct which *which)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(driver);
	struct slot *slot = use ? leaving(which) : NULL;

	if (!slot)
		return false;
	int mode = TFS_CAPTURE_RELAXED;
	if (!TFS_MUTANT(NAIVE_BARRED))
		use->capture_mode(&mode);
	const bool waited = use->error_waits() != 0;
	do {
		use->release((void *)(uintptr_t)slot->address);
		set_empty(slot);
	} while ((slot = leaving(which)));
	if (!waited && use->error_waits() != 0)
		use->forget_error();
	if (!TFS_MUTANT(NAIVE_BARRED))
		use->capture_mode(&mode);
	return true;
}

bool tfs_blocks_flush(bool driver, uint32_t device)
{
	return tfs_blocks_any() && !TFS_MUTANT(NAIVE_HOARD) &&
	       part(driver, &(struct which){.device = device});
}

void tfs_blocks_flush_old(bool driver, uint32_t device)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	if (tfs_blocks_any() && !TFS_MUTANT(NAIVE_HOARD) && now_ns > OLD_NS)
		part(driver, &(struct which){.device = device, .before_ns = now_ns - OLD_NS});
}

void tfs_blocks_part(const void *first, const void *other)
{
	if (TFS_MUTANT(NAIVE_TRUST) || (!first && !other))
		return;
	const int saved = errno;
	part(!tfs_memory_functions(false), &(struct which){.device = TFS_ALL_DEVICES,
						   .first = (uint64_t)(uintptr_t)first,
						   .other = (uint64_t)(uintptr_t)other});
	errno = saved;
}

static bool is_of(const struct slot *slot, const struct tfs_blocks_end *end)
{
	return slot->context == end->context && (end->context || slot->device == end->device);
}

struct tfs_blocks_end tfs_blocks_ending(uint32_t device, void *context)
{
	struct tfs_blocks_end end = {.device = device, .context = context};

	if (!atomic_load(&made) || TFS_MUTANT(NAIVE_DEAD))
		return end;
	end.any = true;
	if (!context)
		end.context = tfs_context_primary(device);
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top; i++)
		if (slots[i].state == SLOT_HELD && is_of(&slots[i], &end))
			slots[i].state = SLOT_ENDING;
	tfs_spin_unlock(&lock);
	return end;
}

static struct slot *ending(const struct tfs_blocks_end *end)
{
	struct slot *found = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top && !found; i++)
		if (slots[i].state == SLOT_ENDING && is_of(&slots[i], end))
			found = &slots[i];
	if (found)
		found->state = SLOT_LEAVING;
	tfs_spin_unlock(&lock);
	return found;
}

/* A call that failed may have ended the context all the same, or in part. */
static bool is_gone(const struct slot *slot, bool ended)
{
	return ended || tfs_context_of((void *)(uintptr_t)slot->address) != slot->context;
}

static void forget_handles(const struct tfs_blocks_end *end)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < top; i++)
		if (is_of(&slots[i], end))
			slots[i].filled = NULL;
	for (uint32_t i = 0; i < LANES; i++)
		if (lanes[i].context == end->context &&
			(end->context || lanes[i].device == end->device))
			lanes[i] = (struct lane){0};
	tfs_spin_unlock(&lock);
}

void tfs_blocks_ended(const struct tfs_blocks_end *end, bool ended)
{
	struct slot *slot;

	while (end->any && (slot = ending(end))) {
		const bool gone = is_gone(slot, ended);

		if (gone)
			set_empty(slot);
		else
			set_state(slot, SLOT_HELD);
	}
	if (end->any && ended)
		forget_handles(end);
}

void tfs_blocks_forget(void)
{
	memset(slots, 0, sizeof(slots));
	memset(lanes, 0, sizeof(lanes));
	top = 0;
	atomic_store(&tfs_blocks_count, 0);
	tfs_spin_reset(&lock);
}
