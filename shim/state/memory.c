/* SPDX-License-Identifier: MIT */
#include "shim/state/memory.h"

#include <string.h>

#include "shim/base/spin.h"
#include "shim/record/recorder.h"

#define RANGES 16384u

static struct tfs_range ranges[RANGES]; /* sorted by address, apart from each other */
static _Atomic uint32_t range_count;    /* relaxed */
static struct tfs_spin lock;            /* between writers */
static _Atomic bool peers;
_Atomic uint32_t tfs_memory_sequence; /* readers try again while it is odd */
static _Atomic bool signals;
static bool overflowed; /* a range was lost */
const struct tfs_address tfs_memory_nothing;

static uint32_t count_now(void)
{
	return atomic_load_explicit(&range_count, memory_order_relaxed);
}

static void set_count(uint32_t count)
{
	atomic_store_explicit(&range_count, count, memory_order_relaxed);
}

static void begin_write(void)
{
	tfs_spin_lock(&lock);
	atomic_fetch_add_explicit(&tfs_memory_sequence, 1, memory_order_acq_rel);
}

static void end_write(void)
{
	atomic_fetch_add_explicit(&tfs_memory_sequence, 1, memory_order_release);
	tfs_spin_unlock(&lock);
}

/* The first range that starts behind `address`. */
static uint32_t upper(uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = count_now();

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (ranges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tfs_memory_add(const struct tfs_range *range)
{
	if (range->address == 0 || range->bytes == 0)
		return;
	begin_write();
	uint32_t next = upper(range->address);
	uint32_t first = next;
	/* What lies there was freed in a way that was not seen. */
	if (first > 0 && range->address - ranges[first - 1].address < ranges[first - 1].bytes)
		first--;
	const uint32_t count = count_now();
	while (next < count && ranges[next].address - range->address < range->bytes)
		next++;
	const bool full = next == first && count == RANGES;

	if (!full) {
		memmove(&ranges[first + 1], &ranges[next], (count - next) * sizeof(ranges[0]));
		ranges[first] = *range;
		set_count(count + 1 + first - next);
	}
	overflowed |= full;
	end_write();
	if (full)
		tfs_recorder_lost(TFS_LOSS_ranges_full, 1);
}

bool tfs_memory_remove(uint64_t address, struct tfs_range *out_range)
{
	begin_write();
	const uint32_t at = upper(address);
	const bool found = at > 0 && ranges[at - 1].address == address;

	if (found) {
		*out_range = ranges[at - 1];
		memmove(&ranges[at - 1], &ranges[at], (count_now() - at) * sizeof(ranges[0]));
		set_count(count_now() - 1);
	}
	end_write();
	return found;
}

/* Lock-free: a copy that a writer may have changed meanwhile is thrown away. */
bool tfs_memory_find(uint64_t address, struct tfs_range *out_range)
{
	for (;;) {
		const uint32_t before =
			atomic_load_explicit(&tfs_memory_sequence, memory_order_acquire);

		if ((before & 1) != 0) {
			sched_yield();
			continue;
		}
		const uint32_t at = upper(address);
		const struct tfs_range range = ranges[at > 0 ? at - 1 : 0];
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&tfs_memory_sequence, memory_order_relaxed) != before)
			continue;
		if (at == 0 || address - range.address >= range.bytes)
			return false;
		*out_range = range;
		return true;
	}
}

void tfs_memory_span(uint64_t *out_lowest, uint64_t *out_end)
{
	for (;;) {
		const uint32_t before =
			atomic_load_explicit(&tfs_memory_sequence, memory_order_acquire);

		if ((before & 1) != 0) {
			sched_yield();
			continue;
		}
		const uint32_t count = count_now();
		const struct tfs_range first = ranges[0], last = ranges[count > 0 ? count - 1 : 0];
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&tfs_memory_sequence, memory_order_relaxed) != before)
			continue;
		*out_lowest = count > 0 ? first.address : 0;
		*out_end = count > 0 ? last.address + last.bytes : 0;
		return;
	}
}

static __attribute__((noinline)) const struct tfs_address *learn(
	struct tfs_address *known, uint64_t address)
{
	struct tfs_range range;

	/* An answer that is newer than this number will not be used again. */
	known->sequence = atomic_load_explicit(&tfs_memory_sequence, memory_order_acquire);
	const bool listed = tfs_memory_find(address, &range);
	known->address = address;
	known->kind = listed ? range.kind : 0;
	known->left = listed ? range.address + range.bytes - address : 0;
	return known;
}

const struct tfs_address *tfs_memory_learn(struct tfs_address *known, uint64_t address)
{
	return count_now() == 0 ? &tfs_memory_nothing : learn(known, address);
}

void tfs_memory_mark(uint64_t address, uint32_t flags)
{
	begin_write();
	const uint32_t at = upper(address);

	if (at > 0 && address - ranges[at - 1].address < ranges[at - 1].bytes)
		ranges[at - 1].flags |= flags;
	end_write();
}

void tfs_memory_peers_enabled(void)
{
	atomic_store(&peers, true);
}

bool tfs_memory_peers(void)
{
	return atomic_load_explicit(&peers, memory_order_relaxed);
}

void tfs_memory_signals_made(void)
{
	atomic_store(&signals, true);
}

bool tfs_memory_signals(void)
{
	return atomic_load_explicit(&signals, memory_order_relaxed);
}

bool tfs_memory_any_visible(void)
{
	bool any;

	tfs_spin_lock(&lock);
	any = overflowed;
	for (uint32_t i = 0; i < count_now() && !any; i++)
		any = ranges[i].kind != TFS_MEMORY_DEVICE ||
		      (ranges[i].flags & TFS_RANGE_MAPPED) != 0;
	tfs_spin_unlock(&lock);
	return any;
}

bool tfs_memory_any_elsewhere(uint32_t device)
{
	bool any;

	tfs_spin_lock(&lock);
	any = overflowed;
	for (uint32_t i = 0; i < count_now() && !any; i++)
		any = ranges[i].kind == TFS_MEMORY_DEVICE && ranges[i].device != device;
	tfs_spin_unlock(&lock);
	return any;
}

void tfs_memory_forget(void)
{
	set_count(0);
	atomic_store(&tfs_memory_sequence, 0);
	tfs_spin_reset(&lock);
}

void tfs_memory_reset(uint32_t device)
{
	uint32_t kept = 0;

	begin_write();
	for (uint32_t i = 0; i < count_now(); i++)
		if (ranges[i].device != device || (ranges[i].flags & TFS_RANGE_REGISTERED) != 0)
			ranges[kept++] = ranges[i];
	set_count(kept);
	end_write();
}
