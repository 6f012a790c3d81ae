/* SPDX-License-Identifier: MIT */
#include "shim/streams.h"

#include "shim/recorder.h"
#include "shim/spin.h"

#define SLOTS 4096u

/* Handles that mean a default stream, in the runtime and the driver alike. */
#define HANDLE_LEGACY 1u
#define HANDLE_PER_THREAD 2u

static struct {
	uint64_t handle;
	uint16_t id; /* 0 = empty */
} slots[SLOTS];
static uint32_t last_id;
static _Atomic uint32_t generation; /* changes when a handle gets a new id */
static struct tfs_spin lock;

/* The stream of the thread's latest call: most calls name the same one again. */
static __thread struct {
	uint64_t key;
	uint32_t generation;
	uint16_t id;
} latest __attribute__((tls_model("initial-exec")));

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
	}
	if (at < SLOTS && slots[at].id != 0)
		id = slots[at].id;
	tfs_spin_unlock(&lock);
	if (fresh) {
		const struct tfs_stream_record record = {
			.record = {.function = id}, .handle = handle, .flags = flags};
		tfs_recorder_put(&record, TFS_RECORD_stream, sizeof(record));
	}
	return id;
}

uint16_t tfs_stream_id(const void *handle, int per_thread)
{
	uint64_t key = (uint64_t)(uintptr_t)handle;
	uint32_t flags = 0;

	if (key == 0)
		key = per_thread ? HANDLE_PER_THREAD : HANDLE_LEGACY;
	if (key == HANDLE_LEGACY)
		flags = TFS_STREAM_LEGACY;
	if (key == HANDLE_PER_THREAD) {
		/* Each thread has its own. */
		key |= (uint64_t)(tfs_self.owned != NULL ? tfs_self.owned->index : 0) << 8;
		flags = TFS_STREAM_PER_THREAD;
	}
	const uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
	if (latest.id == 0 || latest.key != key || latest.generation != now) {
		latest.id = define(key, flags, false);
		latest.key = key;
		latest.generation = now;
	}
	return latest.id;
}

void tfs_stream_created(const void *handle, uint32_t flags)
{
	define((uint64_t)(uintptr_t)handle, flags, true);
	atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}
