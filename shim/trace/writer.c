/* SPDX-License-Identifier: MIT */
#include "shim/trace/writer.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim/trace/writer_slots.h"

#define PAGE 4096u
#define STOCK 4u          /* chunks that are kept warm */
#define MOST_WAITING 128u /* for a disk that is too slow */
#define FIRST_BYTES                                                                                \
	4096u /* of the first chunk of outcomes, which is on the disk from the start               \
	       */

/* Address space alone: what is not in use is nobody's memory, also where all is to be locked. */
static struct tfs_area *reserve_area(void)
{
	void *area = mmap(NULL, TFS_AREA_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (area == MAP_FAILED)
		return NULL;
	/* A child finds zeroes, where the kernel can do that. */
	madvise(area, TFS_AREA_BYTES, MADV_WIPEONFORK);
	madvise(area, TFS_AREA_BYTES, MADV_NOHUGEPAGE);
	return area;
}

static uint64_t within_process_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes ? limit.rlim_cur
									      : bytes;
}

static int make_head(struct tfs_area *area)
{
	madvise(area, TFS_AREA_BYTES, MADV_DONTDUMP);
	return mprotect(area, TFS_AREA_HEAD, PROT_READ | PROT_WRITE) != 0 ? -errno : 0;
}

static void fill_header(struct tfs_area *area, uint64_t limit_bytes)
{
	struct tfs_file_header *header = &area->header;

	memcpy(header->magic, TFS_MAGIC, sizeof(header->magic));
	header->version = TFS_FORMAT_VERSION;
	header->header_bytes = TFS_HEADER_BYTES;
	header->chunk_bytes = TFS_CHUNK_BYTES;
	header->limit_bytes = limit_bytes;
}

int tfs_writer_begin(struct tfs_writer *writer, uint64_t limit_bytes, struct tfs_area *area)
{
	if (!area)
		area = reserve_area();
	if (!area)
		return -ENOMEM;
	const int err = make_head(area);
	if (err) {
		munmap(area, TFS_AREA_BYTES);
		return err;
	}
	limit_bytes = within_process_limit(limit_bytes);
	fill_header(area, limit_bytes);
	atomic_store(&area->next, TFS_HEADER_BYTES);
	pthread_mutex_init(&writer->flushing, NULL);
	writer->limit_bytes = limit_bytes;
	writer->slot_count = TFS_AREA_SLOTS;
	writer->area = area;
	writer->header = &area->header;
	return 0;
}

/* With its header from the start: whatever fails later, it can be read. */
int tfs_writer_create(struct tfs_writer *writer, const char *path)
{
	static char bytes[TFS_HEADER_BYTES + FIRST_BYTES];
	const struct tfs_file_header header = tfs_writer_copy_header(writer->header);

	if (strlen(path) >= sizeof(writer->path))
		return -ENAMETOOLONG;
	if (writer->limit_bytes < sizeof(bytes))
		return -EFBIG;
	memcpy(bytes, &header, sizeof(header));
	const int err = tfs_area_create(writer->area, path, bytes, sizeof(bytes));
	if (err)
		return err;
	strcpy(writer->path, path);
	writer->reached = true;
	atomic_store(&writer->created, true);
	return 0;
}

void tfs_writer_go_without(struct tfs_writer *writer, const char *path)
{
	snprintf(writer->path, sizeof(writer->path), "%s", path);
	writer->nowhere = true;
	atomic_store(&writer->lost_file, true);
}

/* Claims a slot in one state; NULL when none is. */
static struct tfs_slot *claim(struct tfs_writer *writer, uint32_t state)
{
	for (uint32_t i = 0; i < writer->slot_count; i++) {
		struct tfs_slot *slot = &writer->slots[i];
		uint32_t is = state;

		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == state &&
			atomic_compare_exchange_strong(&slot->state, &is, CLAIMED))
			return slot;
	}
	return NULL;
}

/* A slot whose memory was never used. */
static struct tfs_slot *claim_untouched(struct tfs_writer *writer)
{
	struct tfs_slot *slot = claim(writer, UNTOUCHED);
	uint32_t used = atomic_load(&writer->area->used);

	if (!slot)
		return NULL;
	if (mprotect(tfs_writer_slot_chunk(writer, slot), TFS_CHUNK_BYTES,
		    PROT_READ | PROT_WRITE) != 0) {
		atomic_store(&slot->state, UNTOUCHED);
		return NULL;
	}
	const uint32_t now = (uint32_t)(slot - writer->slots) + 1;
	while (used < now && !atomic_compare_exchange_weak(&writer->area->used, &used, now))
		continue;
	return slot;
}

/* What the others leave is an eighth, and half of that. */
static uint64_t limit_of(const struct tfs_writer *writer, enum tfs_room room)
{
	const uint64_t left = writer->limit_bytes / 8;

	return writer->limit_bytes - (room == TFS_ROOM_CALLS                ? left
					     : room == TFS_ROOM_DEFINITIONS ? left / 2
									    : 0);
}

struct tfs_chunk *tfs_writer_chunk(
	struct tfs_writer *writer, const struct tfs_chunk *wanted, enum tfs_room room)
{
	const int saved = errno;
	uint64_t place = 0;

	if (!writer->header ||
		(atomic_load(&writer->lost_file) && wanted->kind != TFS_CHUNK_AGGREGATES) ||
		(room == TFS_ROOM_CALLS && atomic_load(&writer->waiting) >= MOST_WAITING))
		return NULL;
	struct tfs_slot *slot = claim(writer, FREE);
	if (!slot)
		slot = claim_untouched(writer);
	errno = saved;
	if (!slot)
		return NULL;
	if (wanted->kind != TFS_CHUNK_AGGREGATES)
		place = tfs_area_place(writer->area, wanted->bytes, limit_of(writer, room));
	if (place == 0 && wanted->kind != TFS_CHUNK_AGGREGATES) {
		atomic_store(&slot->state, FREE);
		return NULL;
	}
	struct tfs_chunk *chunk = tfs_writer_slot_chunk(writer, slot);
	slot->room = room;
	slot->written = 0;
	slot->counted = 0;
	*chunk = *wanted;
	chunk->offset = place;
	__atomic_store_n(&chunk->magic, TFS_CHUNK_MAGIC, __ATOMIC_RELEASE);
	atomic_store(&slot->state, LIVE);
	__atomic_fetch_add(&writer->header->chunks_taken, 1, __ATOMIC_RELAXED);
	return chunk;
}

void tfs_writer_used(
	const struct tfs_writer *writer, uint64_t *out_used_bytes, uint64_t *out_left_bytes)
{
	const uint64_t limit = limit_of(writer, TFS_ROOM_CALLS);
	const uint64_t used = writer->area ? atomic_load(&writer->area->next) : 0;

	*out_used_bytes = used;
	*out_left_bytes = used < limit ? limit - used : 0;
}

void tfs_writer_retire(struct tfs_writer *writer, const struct tfs_chunk *chunk)
{
	const size_t at =
		(size_t)((const char *)chunk - (const char *)tfs_area_slot(writer->area, 0));

	atomic_fetch_add(&writer->waiting, 1);
	atomic_store(&writer->slots[at / TFS_CHUNK_BYTES].state, FULL);
}

void tfs_writer_prepare(struct tfs_writer *writer)
{
	uint32_t warm = 0;

	for (uint32_t i = 0; i < writer->slot_count; i++)
		warm += atomic_load(&writer->slots[i].state) == FREE;
	for (; warm < STOCK; warm++) {
		struct tfs_slot *slot = claim_untouched(writer);

		if (!slot)
			return;
		char *memory = (char *)tfs_writer_slot_chunk(writer, slot);
		for (uint32_t i = 0; i < TFS_CHUNK_BYTES; i += PAGE)
			*(volatile char *)(memory + i) = 0;
		atomic_store(&slot->state, FREE);
	}
}
