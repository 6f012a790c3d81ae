/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core_private.h"

/* As on hardware; programs and libraries rely on 256. */
#define ALIGNMENT ((size_t)512)
/* Freed blocks of at least this size give their pages back. */
#define TRIM ((size_t)1 << 20)
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

static size_t rounded(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

size_t sim_arena_reserve(size_t arena_size)
{
	return rounded(arena_size / CONTEXT_SHARE);
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
	size = rounded(size);
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
	if (found)
		d->arena_used += size;
	return found;
}

static void give_pages_back(struct sim_device *d, size_t offset, size_t size)
{
	size_t first = (offset + 4095) & ~(size_t)4095;
	size_t end = (offset + size) & ~(size_t)4095;

	if (size >= TRIM && sim.hostile == 0)
		madvise(d->arena + first, end - first, MADV_DONTNEED);
}

/* Without memory for the list the block is lost to the arena; nothing else happens. */
void sim_arena_free(int device, void *address, size_t size)
{
	struct sim_device *d = &sim.device[device];
	struct holes *h = &holes[device];
	size_t offset = (size_t)((char *)address - d->arena);
	unsigned at = 0;

	size = rounded(size);
	d->arena_used -= size;
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
