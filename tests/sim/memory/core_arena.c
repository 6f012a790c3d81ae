/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/sim/core/core_private.h"

/* As on hardware; programs and libraries rely on 256. */
#define ALIGNMENT ((size_t)512)
/* Below this size allocations share the device's large pages; freed blocks from it on give their
 * pages back, and touching them is a fault. */
#define LARGE ((size_t)1 << 20)
#define PAGE ((size_t)4096)
/* What a context takes for itself: the total can never be had in one piece. */
#define CONTEXT_SHARE 64

struct hole {
	size_t offset, size;
};

/* First fit over holes sorted by address. */
static struct holes {
	struct hole *list;
	unsigned count, room;
	bool ready;
} holes[SIM_MAX_DEVICES];

static bool insert(struct holes *h, unsigned at, size_t offset, size_t size)
{
	if (h->count == h->room) {
		unsigned room = h->room ? h->room * 2 : 64;
		struct hole *list = realloc(h->list, room * sizeof(*list));

		if (!list)
			return false;
		h->list = list;
		h->room = room;
	}
	memmove(&h->list[at + 1], &h->list[at], (h->count - at) * sizeof(*h->list));
	h->list[at] = (struct hole){offset, size};
	h->count++;
	return true;
}

static void remove_at(struct holes *h, unsigned at)
{
	h->count--;
	memmove(&h->list[at], &h->list[at + 1], (h->count - at) * sizeof(*h->list));
}

static size_t up_to(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

size_t sim_arena_takes(size_t size)
{
	const size_t pages = sim.profile->granularity;

	return up_to(size, pages && size >= LARGE ? pages : ALIGNMENT);
}

size_t sim_arena_reserve(size_t arena_size)
{
	return up_to(arena_size / CONTEXT_SHARE, ALIGNMENT);
}

size_t sim_arena_left(int device, const struct CUmemPoolHandle_st *pool)
{
	const struct sim_device *d = &sim.device[device];
	const uint64_t used =
		d->arena_used + sim_pool_idle(device, pool) + sim_shared_others(device);

	return used < d->arena_size ? d->arena_size - used : 0;
}

/* Small allocations take as many large pages together as they fill. */
static void charge(struct sim_device *d, size_t size, bool taken)
{
	const size_t pages = sim.profile->granularity;
	const size_t small = d->arena_small;

	if (!pages || size >= LARGE) {
		d->arena_used = taken ? d->arena_used + size : d->arena_used - size;
		return;
	}
	d->arena_small = taken ? small + size : small - size;
	d->arena_used = d->arena_used + up_to(d->arena_small, pages) - up_to(small, pages);
}

/* The pages of a hole may be barred since they were freed. */
static void open_pages(void *address, size_t size)
{
	const uintptr_t first = (uintptr_t)address & ~(PAGE - 1);

	mprotect((void *)first, up_to((uintptr_t)address + size - first, PAGE),
		PROT_READ | PROT_WRITE);
}

void *sim_arena_alloc(int device, size_t size)
{
	struct sim_device *d = &sim.device[device];
	struct holes *h = &holes[device];
	void *found = NULL;

	if (!h->ready)
		h->ready = insert(h, 0, 0, d->arena_size - sim_arena_reserve(d->arena_size));
	if (size > d->arena_size)
		return NULL;
	size = sim_arena_takes(size);
	for (unsigned i = 0; i < h->count && !found; i++) {
		struct hole *hole = &h->list[i];

		if (hole->size < size)
			continue;
		found = d->arena + hole->offset;
		hole->offset += size;
		hole->size -= size;
		if (hole->size == 0)
			remove_at(h, i);
	}
	if (found) {
		charge(d, size, true);
		if (d->barred)
			open_pages(found, size);
	}
	return found;
}

static void give_pages_back(struct sim_device *d, size_t offset, size_t size)
{
	const size_t first = up_to(offset, PAGE), end = (offset + size) & ~(PAGE - 1);

	if (size < LARGE)
		return;
	if (sim.hostile == 0)
		madvise(d->arena + first, end - first, MADV_DONTNEED);
	if (sim_is_naive(SIM_NAIVE_FREED))
		return;
	sim_fault_expect();
	d->barred = true;
	mprotect(d->arena + first, end - first, PROT_NONE);
}

/* Without memory for the list the block is lost to the arena; nothing else happens. */
void sim_arena_free(int device, void *address, size_t size)
{
	struct sim_device *d = &sim.device[device];
	struct holes *h = &holes[device];
	size_t offset = (size_t)((char *)address - d->arena);
	unsigned at = 0;

	size = sim_arena_takes(size);
	charge(d, size, false);
	give_pages_back(d, offset, size);
	while (at < h->count && h->list[at].offset < offset)
		at++;
	if (at > 0 && h->list[at - 1].offset + h->list[at - 1].size == offset) {
		at--;
		h->list[at].size += size;
	} else if (!insert(h, at, offset, size)) {
		return;
	}
	if (at + 1 < h->count && h->list[at].offset + h->list[at].size == h->list[at + 1].offset) {
		h->list[at].size += h->list[at + 1].size;
		remove_at(h, at + 1);
	}
}
