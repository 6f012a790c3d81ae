/* SPDX-License-Identifier: MIT */
#include "shim/trace/writer.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "shim/trace/store.h"

#define PAGE 4096u
#define STOCK 4u          /* chunks that are kept warm */
#define MOST_WAITING 128u /* for a disk that is too slow */
#define FIRST_BYTES                                                                                \
	4096u /* of the first chunk of outcomes, which is on the disk from the start               \
	       */
#define SECOND_NS UINT64_C(1000000000)

enum { UNTOUCHED, FREE, CLAIMED, LIVE, FULL };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

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

/* Its counters change at any time. */
static struct tfs_file_header copy_header(const struct tfs_file_header *header)
{
	const size_t counters = offsetof(struct tfs_file_header, chunks_taken);
	const size_t rest = offsetof(struct tfs_file_header, program);
	struct tfs_file_header copy;

	memcpy(&copy, header, counters);
	copy.chunks_taken = __atomic_load_n(&header->chunks_taken, __ATOMIC_RELAXED);
	for (int i = 0; i < TFS_LOSS_COUNT; i++)
		copy.lost[i] = __atomic_load_n(&header->lost[i], __ATOMIC_RELAXED);
	memcpy((char *)&copy + rest, (const char *)header + rest, sizeof(copy) - rest);
	return copy;
}

/* With its header from the start: whatever fails later, it can be read. */
int tfs_writer_create(struct tfs_writer *writer, const char *path)
{
	static char bytes[TFS_HEADER_BYTES + FIRST_BYTES];
	const struct tfs_file_header header = copy_header(writer->header);

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

static struct tfs_chunk *chunk_of(const struct tfs_writer *writer, const struct tfs_slot *slot)
{
	return tfs_area_slot(writer->area, (uint32_t)(slot - writer->slots));
}

/* A slot whose memory was never used. */
static struct tfs_slot *claim_untouched(struct tfs_writer *writer)
{
	struct tfs_slot *slot = claim(writer, UNTOUCHED);
	uint32_t used = atomic_load(&writer->area->used);

	if (!slot)
		return NULL;
	if (mprotect(chunk_of(writer, slot), TFS_CHUNK_BYTES, PROT_READ | PROT_WRITE) != 0) {
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
	struct tfs_chunk *chunk = chunk_of(writer, slot);
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
		char *memory = (char *)chunk_of(writer, slot);
		for (uint32_t i = 0; i < TFS_CHUNK_BYTES; i += PAGE)
			*(volatile char *)(memory + i) = 0;
		atomic_store(&slot->state, FREE);
	}
}

/* Calls that a table of aggregates counts so far: it changes with them. */
static uint64_t count_calls(const struct tfs_chunk *chunk)
{
	const struct tfs_aggregate *totals = (const struct tfs_aggregate *)(chunk + 1);
	const uint64_t bytes = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);
	uint64_t sum = bytes;

	for (uint64_t i = 0; i < bytes / sizeof(*totals); i++)
		sum += __atomic_load_n(&totals[i].count, __ATOMIC_RELAXED);
	return sum;
}

static bool is_dirty(const struct tfs_slot *slot, const struct tfs_chunk *chunk)
{
	if (chunk->kind == TFS_CHUNK_AGGREGATES)
		return count_calls(chunk) != slot->counted;
	return __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE) > slot->written;
}

/* The memory of a full chunk is as new. */
static void clear(struct tfs_writer *writer, struct tfs_slot *slot, struct tfs_chunk *chunk)
{
	const uint64_t committed = chunk->committed;

	__atomic_store_n(&chunk->magic, 0, __ATOMIC_RELEASE);
	tfs_store_zeroes(chunk, sizeof(*chunk) + committed);
	atomic_store(&slot->state, FREE);
	atomic_fetch_sub(&writer->waiting, 1);
}

/* What cannot be written any more. */
static void count_records(struct tfs_writer *writer, const struct tfs_chunk *chunk, uint64_t from)
{
	const char *payload = (const char *)(chunk + 1);
	const uint64_t committed = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);
	uint64_t records = 0;

	for (uint64_t at = from, units = 1; at < committed && units > 0; at += units * TFS_UNIT) {
		units = ((const struct tfs_record *)(payload + at))->units;
		records++;
	}
	tfs_writer_lost(writer, TFS_LOSS_records_dropped, records);
}

static int flush_slot(struct tfs_writer *writer, int fd, struct tfs_slot *slot)
{
	struct tfs_chunk *chunk = chunk_of(writer, slot);
	const uint32_t state = atomic_load(&slot->state);
	int err = 0;

	if (state != LIVE && state != FULL)
		return 0;
	if (fd < 0) {
		if (state == FULL)
			count_records(writer, chunk, slot->written);
	} else if (is_dirty(slot, chunk)) {
		const uint64_t calls = chunk->kind == TFS_CHUNK_AGGREGATES ? count_calls(chunk) : 0;

		err = tfs_area_put_chunk(writer->area, fd, chunk, &slot->written);
		if (!err)
			slot->counted = calls;
	}
	if (!err && state == FULL)
		clear(writer, slot, chunk);
	return err;
}

/* Outcomes first, then what gives totals their meaning, then totals: a full disk is to have room
 * for them. */
static int flush_slots(struct tfs_writer *writer, int fd)
{
	const uint32_t used = atomic_load(&writer->area->used);
	int err = 0;

	for (uint32_t room = TFS_ROOM_OUTCOMES + 1; room-- > 0;)
		for (uint32_t i = 0; i < used; i++) {
			struct tfs_slot *slot = &writer->slots[i];
			const uint32_t state = atomic_load(&slot->state);

			/* Only then is its room settled. */
			if ((state == LIVE || state == FULL) && slot->room == (enum tfs_room)room) {
				const int now = flush_slot(writer, fd, slot);

				err = !err ? now : err;
				if (now != 0 && room == TFS_ROOM_CALLS)
					return err;
			}
		}
	return err;
}

static void give_up(struct tfs_writer *writer)
{
	for (uint32_t i = 0; i < atomic_load(&writer->area->used); i++) {
		struct tfs_slot *slot = &writer->slots[i];
		const struct tfs_chunk *chunk = chunk_of(writer, slot);
		const uint32_t state = atomic_load(&slot->state);

		if ((state == LIVE || state == FULL) && chunk->kind == TFS_CHUNK_RECORDS)
			count_records(writer, chunk, slot->written);
	}
}

static int flush_header(struct tfs_writer *writer, int fd)
{
	const struct tfs_file_header header = copy_header(writer->header);

	if (memcmp(&header, &writer->saved, sizeof(header)) == 0)
		return 0;
	const int err = tfs_area_put(writer->area, fd, &header, sizeof(header), 0);
	if (!err)
		writer->saved = header;
	return err;
}

static bool anything_dirty(struct tfs_writer *writer)
{
	const uint32_t used = atomic_load(&writer->area->used);
	const struct tfs_file_header header = copy_header(writer->header);
	bool dirty = memcmp(&header, &writer->saved, sizeof(header)) != 0;

	for (uint32_t i = 0; i < used && !dirty; i++) {
		const struct tfs_chunk *chunk = chunk_of(writer, &writer->slots[i]);
		const uint32_t state = atomic_load(&writer->slots[i].state);

		dirty = state == FULL || (state == LIVE && is_dirty(&writer->slots[i], chunk));
	}
	return dirty;
}

/* 0, or -errno where something is not in the file. */
static int flush(struct tfs_writer *writer, bool now)
{
	if (atomic_load(&writer->lost_file)) {
		flush_slots(writer, -1);
		return -ESTALE;
	}
	if (!atomic_load(&writer->created))
		return -ENOENT;
	if (!anything_dirty(writer))
		return 0;
	if (!now && now_ns() < writer->retry_ns)
		return -EAGAIN;
	const int fd = tfs_area_open(writer->area);
	int err = fd < 0 ? fd : flush_slots(writer, fd);
	writer->reached = fd >= 0;
	if (err == -ESTALE)
		atomic_store(&writer->lost_file, true);
	if (fd >= 0) {
		const int header = flush_header(writer, fd);

		err = !err ? header : err;
		close(fd);
	}
	writer->retry_ns = err ? now_ns() + SECOND_NS : 0;
	return err;
}

static void flush_end(struct tfs_writer *writer)
{
	if (atomic_load(&writer->lost_file) || !atomic_load(&writer->created))
		return;
	const int fd = tfs_area_open(writer->area);

	writer->reached = fd >= 0;
	if (fd < 0)
		return;
	flush_header(writer, fd);
	close(fd);
}

/* A disk that does not answer keeps nobody for good. */
static bool lock_file(struct tfs_writer *writer)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	return pthread_mutex_timedlock(&writer->flushing, &until) == 0;
}

static bool is_finished(const struct tfs_writer *writer)
{
	return __atomic_load_n(&writer->header->finished, __ATOMIC_ACQUIRE);
}

bool tfs_writer_flush(struct tfs_writer *writer, bool now)
{
	const int saved = errno;

	if (!writer->header || !lock_file(writer))
		return false;
	if (!is_finished(writer))
		flush(writer, now);
	const bool reached = writer->reached;
	pthread_mutex_unlock(&writer->flushing);
	errno = saved;
	return reached;
}

bool tfs_writer_finish(struct tfs_writer *writer)
{
	const int saved = errno;

	if (!writer->header)
		return false;
	const bool locked = lock_file(writer);
	/* What other threads commit behind this is of a program that has ended. */
	if (!locked || flush(writer, true))
		give_up(writer);
	__atomic_store_n(&writer->header->finished, 1, __ATOMIC_RELEASE);
	if (locked) {
		flush_end(writer);
		pthread_mutex_unlock(&writer->flushing);
	}
	errno = saved;
	return locked && writer->reached;
}
