/* SPDX-License-Identifier: MIT */
#include "shim/trace/area.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_ROOM (16u << 10)

/* Aggregates stay where they are and their number grows: they are in the file in parts. */
static const uint32_t part_bytes[TFS_CHUNK_PARTS] = {4096, 28672, 237568};

_Static_assert(sizeof(struct tfs_area) <= TFS_AREA_HEAD, "an area's head");

static bool within_limits(uint64_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       end <= limit.rlim_cur;
}

int tfs_area_put(struct tfs_area *area, int fd, const void *bytes, size_t count, uint64_t offset)
{
	const char *next = bytes;

	if (!within_limits(offset + count))
		return -EFBIG;
	for (int interrupted = 0; count > 0;) {
		const ssize_t written = pwrite(fd, next, count, (off_t)offset);

		if (written < 0 && errno == EINTR && interrupted++ < 8)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		next += written;
		offset += (uint64_t)written;
		count -= (size_t)written;
	}
	if (offset > atomic_load_explicit(&area->end, memory_order_relaxed))
		atomic_store_explicit(&area->end, offset, memory_order_relaxed);
	return 0;
}

int tfs_area_create(struct tfs_area *area, const char *path, const void *bytes, size_t count)
{
	struct stat status;

	if (strlen(path) >= sizeof(area->path))
		return -ENAMETOOLONG;
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return -errno;
	int err = fstat(fd, &status) != 0 ? -errno : 0;
	if (!err)
		err = tfs_area_put(area, fd, bytes, count, 0);
	close(fd);
	if (err) {
		unlink(path);
		return err;
	}
	area->device = status.st_dev;
	area->inode = status.st_ino;
	strcpy(area->path, path);
	return 0;
}

int tfs_area_open(const struct tfs_area *area)
{
	struct stat status;
	const int fd = open(area->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int err = -ENOENT;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_dev == area->device &&
		status.st_ino == area->inode)
		err = (uint64_t)status.st_size < atomic_load(&area->end) ? -ESTALE : 0;
	if (!err)
		return fd;
	close(fd);
	return err;
}

uint64_t tfs_area_place(struct tfs_area *area, uint64_t bytes, uint64_t limit)
{
	uint64_t place = atomic_load(&area->next);

	do {
		if (place + bytes > limit)
			return 0;
	} while (!atomic_compare_exchange_weak(&area->next, &place, place + bytes));
	return place;
}

/* The head says how much there is only once it is there. */
static int put_head(
	struct tfs_area *area, int fd, const struct tfs_chunk *chunk, uint64_t committed)
{
	/* Not copied as a whole: its thread goes on committing. */
	const struct tfs_chunk head = {
		.magic = chunk->magic,
		.kind = chunk->kind,
		.thread = chunk->thread,
		.sequence = chunk->sequence,
		.committed = committed,
		.offset = chunk->offset,
		.bytes = chunk->bytes,
	};
	return tfs_area_put(area, fd, &head, sizeof(head), head.offset);
}

/* Totals and definitions find their room on the disk when that is full of calls. */
static int put_room(struct tfs_area *area, int fd, const struct tfs_chunk *head)
{
	static const char nothing[MOST_ROOM];
	const bool wants = head->thread == 0 || head->kind == TFS_CHUNK_AGGREGATES;

	return wants && head->bytes <= sizeof(nothing)
		       ? tfs_area_put(area, fd, nothing, head->bytes, head->offset)
		       : 0;
}

/* Payload from `from` to `to`, between two writes of the head. */
static int put_part(struct tfs_area *area, int fd, const struct tfs_chunk *head,
	const char *payload, uint64_t from, uint64_t to, bool first)
{
	int err = first ? put_room(area, fd, head) : 0;

	if (!err && first)
		err = put_head(area, fd, head, 0);

	if (!err)
		err = tfs_area_put(
			area, fd, payload + from, to - from, head->offset + sizeof(*head) + from);
	return err ? err : put_head(area, fd, head, to);
}

static int put_aggregates(
	struct tfs_area *area, int fd, struct tfs_chunk *chunk, uint64_t committed)
{
	const char *payload = (const char *)(chunk + 1);

	for (uint32_t i = 0; i < TFS_CHUNK_PARTS && committed > 0; i++) {
		const uint64_t room = part_bytes[i] - sizeof(*chunk);
		const uint64_t bytes = committed < room ? committed : room;
		struct tfs_chunk head = {
			.magic = chunk->magic, .kind = chunk->kind, .thread = chunk->thread};

		if (chunk->parts[i] == 0)
			chunk->parts[i] =
				tfs_area_place(area, part_bytes[i], area->header.limit_bytes);
		if (chunk->parts[i] == 0)
			return -ENOSPC;
		head.sequence = i;
		head.offset = chunk->parts[i];
		head.bytes = part_bytes[i];
		const int err =
			put_part(area, fd, &head, payload, 0, bytes, (chunk->heads >> i & 1) == 0);
		if (err)
			return err;
		chunk->heads |= (uint16_t)(1u << i);
		payload += bytes;
		committed -= bytes;
	}
	return 0;
}

int tfs_area_put_chunk(struct tfs_area *area, int fd, struct tfs_chunk *chunk, uint64_t *written)
{
	const uint64_t committed = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);

	if (chunk->kind == TFS_CHUNK_AGGREGATES)
		return put_aggregates(area, fd, chunk, committed);
	if (committed <= *written)
		return 0;
	const int err = put_part(
		area, fd, chunk, (const char *)(chunk + 1), *written, committed, chunk->heads == 0);
	if (err)
		return err;
	chunk->heads = 1;
	*written = committed;
	return 0;
}

/* The program may have stored into it by mistake. */
static bool is_sound(const struct tfs_area *area, const struct tfs_chunk *chunk)
{
	const uint64_t limit = area->header.limit_bytes;
	bool sound = chunk->magic == TFS_CHUNK_MAGIC &&
		     chunk->committed <= TFS_CHUNK_BYTES - sizeof(*chunk) && chunk->offset <= limit;

	for (uint32_t i = 0; i < TFS_CHUNK_PARTS; i++)
		sound &= chunk->parts[i] <= limit;
	return sound;
}

int tfs_area_save(struct tfs_area *area)
{
	const int fd = tfs_area_open(area);
	int err = 0;

	if (fd < 0)
		return fd;
	for (uint32_t i = 0; i < atomic_load(&area->used) && i < TFS_AREA_SLOTS; i++) {
		struct tfs_chunk *chunk = tfs_area_slot(area, i);
		uint64_t written = 0;

		if (is_sound(area, chunk))
			err |= tfs_area_put_chunk(area, fd, chunk, &written);
	}
	err |= tfs_area_put(area, fd, &area->header, sizeof(area->header), 0);
	close(fd);
	return err;
}
