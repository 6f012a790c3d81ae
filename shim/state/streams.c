/* SPDX-License-Identifier: MIT */
#include "shim/state/streams.h"

#include "shim/base/spin.h"
#include "shim/record/recorder.h"

#define SLOTS 4096u

/* Handles that mean a default stream, in the runtime and the driver alike. */
#define HANDLE_LEGACY 1u
#define HANDLE_PER_THREAD 2u

static struct {
	uint64_t handle;
	uint16_t id; /* 0 = empty */
} slots[SLOTS];
static uint64_t handles[SLOTS]; /* by id - 1 */
static _Atomic bool free_seen;
static _Atomic uint32_t made;
static uint32_t last_id;
static struct tfs_spin lock;

__thread struct tfs_stream_latest tfs_stream_latest __attribute__((tls_model("initial-exec")));
uint64_t tfs_stream_generation = 2;

static uint32_t find(uint64_t handle)
{
	uint32_t at = (uint32_t)((handle * UINT64_C(0x9E3779B97F4A7C15)) >> 52);

	for (uint32_t i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS)
		if (slots[at].handle == handle || slots[at].id == 0)
			return at;
	return SLOTS;
}

static uint16_t define(uint64_t handle, uint32_t flags, bool renew)
{
	uint16_t id = TFS_NO_STREAM;

	tfs_spin_lock(&lock);
	const uint32_t at = find(handle);
	const bool fresh = at < SLOTS && (renew || slots[at].id == 0) && last_id < SLOTS;
	if (fresh) {
		slots[at].handle = handle;
		slots[at].id = (uint16_t)++last_id;
		__atomic_store_n(&handles[last_id - 1], handle, __ATOMIC_RELEASE);
	}
	if (at < SLOTS && slots[at].id != 0)
		id = slots[at].id;
	tfs_spin_unlock(&lock);
	if (fresh) {
		const struct tfs_stream_record record = {
			.id = id, .handle = handle, .flags = flags};
		tfs_recorder_put(&record, TFS_RECORD_stream, sizeof(record));
	}
	return id;
}

void *tfs_stream_handle(uint16_t id)
{
	if (id == 0 || id > SLOTS)
		return NULL;
	const uint64_t handle = __atomic_load_n(&handles[id - 1], __ATOMIC_ACQUIRE);
	return (handle & 0xff) != HANDLE_PER_THREAD ? (void *)(uintptr_t)handle : NULL;
}

uint16_t tfs_stream_find(const void *handle, bool per_thread)
{
	uint64_t key = (uint64_t)(uintptr_t)handle;
	uint32_t flags = 0;

	if (key == 0)
		key = per_thread ? HANDLE_PER_THREAD : HANDLE_LEGACY;
	if (key == HANDLE_LEGACY)
		flags = TFS_STREAM_LEGACY;
	if (key == HANDLE_PER_THREAD) {
		/* Each thread has its own. */
		key |= (uint64_t)(tfs_self.owned ? tfs_self.owned->index : 0) << 8;
		flags = TFS_STREAM_PER_THREAD;
	}
	const uint64_t now = __atomic_load_n(&tfs_stream_generation, __ATOMIC_ACQUIRE);
	tfs_stream_latest = (struct tfs_stream_latest){
		.handle = handle, .named = now + per_thread, .id = define(key, flags, false)};
	return tfs_stream_latest.id;
}

bool tfs_streams_free(void)
{
	return atomic_load(&free_seen);
}

void tfs_streams_set_free(void)
{
	atomic_store(&free_seen, true);
}

uint32_t tfs_streams_made(void)
{
	return atomic_load(&made);
}

void tfs_stream_created(const void *handle, uint32_t flags)
{
	atomic_fetch_add(&made, 1);
	if ((flags & TFS_STREAM_NON_BLOCKING) != 0)
		atomic_store(&free_seen, true);
	define((uint64_t)(uintptr_t)handle, flags, true);
	__atomic_fetch_add(&tfs_stream_generation, 2, __ATOMIC_RELEASE);
}
