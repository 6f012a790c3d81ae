/* SPDX-License-Identifier: MIT */
/* Writes what was committed to the file, now and then and for the last time. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/trace/store.h"
#include "shim/trace/writer_slots.h"

#define SECOND_NS UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct tfs_file_header tfs_writer_copy_header(const struct tfs_file_header *header)
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
	struct tfs_chunk *chunk = tfs_writer_slot_chunk(writer, slot);
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
		const struct tfs_chunk *chunk = tfs_writer_slot_chunk(writer, slot);
		const uint32_t state = atomic_load(&slot->state);

		if ((state == LIVE || state == FULL) && chunk->kind == TFS_CHUNK_RECORDS)
			count_records(writer, chunk, slot->written);
	}
}

static int flush_header(struct tfs_writer *writer, int fd)
{
	const struct tfs_file_header header = tfs_writer_copy_header(writer->header);

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
	const struct tfs_file_header header = tfs_writer_copy_header(writer->header);
	bool dirty = memcmp(&header, &writer->saved, sizeof(header)) != 0;

	for (uint32_t i = 0; i < used && !dirty; i++) {
		const struct tfs_chunk *chunk = tfs_writer_slot_chunk(writer, &writer->slots[i]);
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
