/* SPDX-License-Identifier: MIT */
#include "shim/record/live.h"

#include "shim/base/spin.h"
#include "shim/record/recorder.h"

#define SLOTS 16384u
#define MOST (SLOTS / 4 * 3)

static struct tfs_live table[SLOTS];
static uint32_t count;
static struct tfs_spin lock;

static uint32_t home(uint64_t address)
{
	return (uint32_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 50);
}

/* The slot of `address`, or the empty one where it belongs. */
static uint32_t find(uint64_t address)
{
	uint32_t at = home(address);

	while (table[at].end_ticks != 0 && table[at].address != address)
		at = (at + 1) % SLOTS;
	return at;
}

bool tfs_live_add(const struct tfs_live *live)
{
	tfs_spin_lock(&lock);
	const uint32_t at = find(live->address);
	const bool fresh = table[at].end_ticks == 0;
	const bool room = !fresh || count < MOST;

	if (room) {
		table[at] = *live;
		count += fresh;
	}
	tfs_spin_unlock(&lock);
	return room;
}

/* Those behind it move up, unless they are at home. */
static void empty(uint32_t hole)
{
	for (uint32_t at = (hole + 1) % SLOTS; table[at].end_ticks != 0; at = (at + 1) % SLOTS) {
		const uint32_t away = (at - home(table[at].address)) % SLOTS;

		if (away >= (at - hole) % SLOTS) {
			table[hole] = table[at];
			hole = at;
		}
	}
	table[hole].end_ticks = 0;
	count--;
}

bool tfs_live_take(uint64_t address, uint64_t ticks, struct tfs_live *out_live)
{
	tfs_spin_lock(&lock);
	const uint32_t at = find(address);
	/* Where another thread was given the address meanwhile, this is its allocation. */
	const bool found = table[at].end_ticks != 0 && table[at].end_ticks <= ticks;

	if (found) {
		*out_live = table[at];
		empty(at);
	}
	tfs_spin_unlock(&lock);
	return found;
}

void tfs_live_put(const struct tfs_live *live)
{
	const struct tfs_record *record = (const struct tfs_record *)live->words;

	tfs_recorder_put(record, TFS_RECORD_call, (size_t)record->units * TFS_UNIT);
}

void tfs_live_record(void)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < SLOTS && count > 0; i++) {
		if (table[i].end_ticks == 0)
			continue;
		tfs_live_put(&table[i]);
		table[i].end_ticks = 0;
		count--;
	}
	tfs_spin_unlock(&lock);
}
