/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/held_fills.h"

#include <cuda_runtime_api.h>
#include <sched.h>

#include "shim/base/clock.h"
#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/memory/memory_functions.h"

/* Who carries fills out for longer than this may wait for this thread. */
#define LONGEST_NS UINT64_C(10000000000)

static struct tfs_held fills[TFS_HELD_MOST];
static struct tfs_spin lock;
static const void *settling; /* the thread that carries out, NULL: none */

const void *tfs_held_self(void)
{
	return &tfs_self;
}

struct tfs_held *tfs_held_open(void)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	for (;;) {
		tfs_spin_lock(&lock);
		if (!settling || settling == tfs_held_self() ||
			tfs_clock_ns(CLOCK_MONOTONIC) - start_ns > LONGEST_NS)
			return fills;
		tfs_spin_unlock(&lock);
		sched_yield();
	}
}

/* The lock is held. */
static void show(void)
{
	for (uint32_t i = 0; i < TFS_HELD_MOST; i++)
		if (fills[i].state != TFS_HELD_NONE && fills[i].state != TFS_HELD_LATE)
			return;
	__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_FILLS, __ATOMIC_RELEASE);
}

void tfs_held_close(void)
{
	if (!settling)
		show();
	tfs_spin_unlock(&lock);
}

bool tfs_held_add(const struct tfs_held *fill)
{
	struct tfs_held *all = tfs_held_open();
	uint32_t room = TFS_HELD_MOST;
	bool apart = true;

	for (uint32_t i = 0; i < TFS_HELD_MOST; i++) {
		if (all[i].state == TFS_HELD_NONE)
			room = room == TFS_HELD_MOST ? i : room;
		else
			apart = apart && (fill->address >= all[i].address + all[i].bytes ||
						 all[i].address >= fill->address + fill->bytes);
	}
	const bool good = apart && room < TFS_HELD_MOST;
	if (good) {
		all[room] = *fill;
		__atomic_fetch_or(&tfs_wanted, TFS_WANT_FILLS, __ATOMIC_RELAXED);
	}
	tfs_held_close();
	return good;
}

static bool find_device(void)
{
	return TFS_DIRECT(cudaGetDevice) && TFS_DIRECT(cudaSetDevice);
}

uint32_t tfs_held_device(void)
{
	int now = 0;

	return find_device() && TFS_DIRECT(cudaGetDevice)(&now) == cudaSuccess ? (uint32_t)now
									       : UINT32_MAX;
}

void tfs_held_carry_out(const struct tfs_held *fill)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	const uint32_t now = tfs_held_device();

	if (now != fill->device)
		TFS_DIRECT(cudaSetDevice)((int)fill->device);
	/* An error is the program's to see, at the call that comes now. */
	use->fill((void *)(uintptr_t)fill->address, 0, fill->bytes, fill->stream);
	if (now != fill->device && now != UINT32_MAX)
		TFS_DIRECT(cudaSetDevice)((int)now);
}

void tfs_held_settle(void (*tell)(const struct tfs_held *fill, uint32_t reason), uint32_t reason)
{
	struct tfs_held late[TFS_HELD_MOST];
	struct tfs_held *all = tfs_held_open();
	uint32_t count = 0;

	for (uint32_t i = 0; i < TFS_HELD_MOST; i++) {
		if (all[i].state == TFS_HELD_NONE || all[i].state == TFS_HELD_LATE)
			continue;
		tell(&all[i], reason);
		if (all[i].state != TFS_HELD_DONE)
			late[count++] = all[i];
		all[i].state = all[i].state == TFS_HELD_TAKEN ? TFS_HELD_LATE : TFS_HELD_NONE;
	}
	settling = count > 0 ? tfs_held_self() : NULL;
	tfs_held_close();
	if (count == 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		tfs_held_carry_out(&late[i]);
	tfs_held_open();
	settling = NULL;
	tfs_held_close();
}

bool tfs_held_back(const void *address, uint64_t bytes)
{
	const uint64_t start = (uint64_t)(uintptr_t)address;
	bool back = false;

	if ((__atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED) & TFS_WANT_FILLS) == 0)
		return false;
	const struct tfs_held *all = tfs_held_open();
	for (uint32_t i = 0; i < TFS_HELD_MOST; i++)
		back |= all[i].state > TFS_HELD_DONE && start < all[i].address + all[i].bytes &&
			all[i].address < start + bytes;
	tfs_held_close();
	return back;
}
