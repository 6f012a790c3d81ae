/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/room.h"

#include <stddef.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/spin.h"
#include "shim/rewrites/memory/memory_functions.h"

#define DEVICES 64u
#define LOOK_NS UINT64_C(100000000)      /* how long a look is quite new */
#define LOOK_BYTES (UINT64_C(100) << 20) /* taken since; or so near the reserve */
#define PROBE (UINT64_C(2) << 20)        /* a multiple of every page that is reckoned with */
#define TRIES 64u                        /* others may allocate in the middle of measuring: */
#define SELDOM 64u                       /* from then on one of so many requests tries */

static struct room {
	uint64_t page; /* 0: not measured */
	uint32_t tries;
	bool measuring;
	uint64_t looked_ns; /* 0: never */
	uint64_t free_bytes;
	uint64_t taken; /* since; no longer part of free_bytes */
	uint64_t least; /* that must stay free */
} rooms[DEVICES];

static struct tfs_spin lock;

/* What one byte more than a whole number of pages takes is a page; 0: it cannot be told. Others
 * that allocate or free meanwhile make it a number that no page has. */
static uint64_t measure(const struct tfs_memory_functions *use)
{
	size_t before, after, all;
	void *probe;

	if (use->info(&before, &all) != 0 || before < 4 * PROBE ||
		use->alloc(&probe, PROBE + 1) != 0) {
		use->forget_error();
		return 0;
	}
	const bool told = use->info(&after, &all) == 0;
	if (use->release(probe) != 0 || !told) {
		use->forget_error();
		return 0;
	}
	const uint64_t page = before - after - PROBE;
	return page - 1 < PROBE && (page & (page - 1)) == 0 ? page : 0;
}

/* One thread at a time; the same twice in a row is believed. */
static void learn_page(const struct tfs_memory_functions *use, struct room *room)
{
	tfs_spin_lock(&lock);
	const bool due = room->tries < TRIES || room->tries % SELDOM == 0;
	const bool mine = !room->measuring && room->page == 0 && due;
	room->measuring |= mine;
	room->tries += !room->measuring || mine;
	tfs_spin_unlock(&lock);
	if (!mine)
		return;
	const uint64_t first = measure(use), second = measure(use);
	tfs_spin_lock(&lock);
	room->page = first == second ? first : 0;
	room->measuring = false;
	tfs_spin_unlock(&lock);
}

static uint64_t page_of(const struct room *room)
{
	tfs_spin_lock(&lock);
	const uint64_t page = room->page;
	tfs_spin_unlock(&lock);
	return page;
}

static uint64_t in_pages(uint64_t bytes, uint64_t page)
{
	return bytes + page - 1 < bytes ? bytes : (bytes + page - 1) / page * page;
}

uint64_t tfs_room_pages(const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes)
{
	if (device >= DEVICES)
		return 0;
	if (page_of(&rooms[device]) == 0)
		learn_page(use, &rooms[device]);
	const uint64_t page = page_of(&rooms[device]);
	return page != 0 && bytes >= page ? in_pages(bytes, page) : 0;
}

/* As of the latest look, less what was taken since. */
static bool is_left(const struct room *room, uint64_t bytes)
{
	return room->free_bytes >= room->least && room->free_bytes - room->least >= bytes;
}

static bool look(const struct tfs_memory_functions *use, struct room *room, uint64_t bytes)
{
	size_t free_bytes, all;

	if (use->info(&free_bytes, &all) != 0) {
		use->forget_error();
		return false;
	}
	tfs_spin_lock(&lock);
	room->looked_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	room->free_bytes = free_bytes;
	room->least = all / 10 > tfs_options.pool_reserve_bytes ? all / 10
								: tfs_options.pool_reserve_bytes;
	room->taken = 0;
	const bool left = is_left(room, bytes);
	tfs_spin_unlock(&lock);
	return left;
}

bool tfs_room_left(
	const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes, bool anew)
{
	struct room *room = &rooms[device % DEVICES];

	if (device >= DEVICES)
		return false;
	tfs_spin_lock(&lock);
	const uint64_t now_ns = anew ? tfs_clock_ns(CLOCK_MONOTONIC) : 0;
	const bool due = room->looked_ns == 0 || room->taken >= LOOK_BYTES ||
			 (anew && now_ns - room->looked_ns > LOOK_NS) ||
			 bytes > UINT64_MAX - LOOK_BYTES || !is_left(room, bytes + LOOK_BYTES);
	tfs_spin_unlock(&lock);
	return due ? look(use, room, bytes) : true;
}

void tfs_room_taken(uint32_t device, uint64_t bytes)
{
	struct room *room = &rooms[device % DEVICES];

	if (device >= DEVICES)
		return;
	tfs_spin_lock(&lock);
	const uint64_t taken = in_pages(bytes, room->page != 0 ? room->page : 1);
	room->free_bytes -= taken < room->free_bytes ? taken : room->free_bytes;
	room->taken += taken;
	tfs_spin_unlock(&lock);
}

void tfs_room_forget(void)
{
	memset(rooms, 0, sizeof(rooms));
	tfs_spin_reset(&lock);
}
