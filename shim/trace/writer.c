/* SPDX-License-Identifier: MIT */
#include "shim/trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

/* A write past RLIMIT_FSIZE raises SIGXFSZ, also from fallocate: ask first. */
static bool within_limits(uint64_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       end <= limit.rlim_cur;
}

/* Pages that come by one write are large and cheap; one by one, as faults ask for them, they cost
 * four times as much. What is not written, faults make. */
static void write_zeroes(int fd, uint64_t start, uint64_t bytes)
{
	static char page[PAGE];
	struct iovec pieces[TFS_CHUNK_BYTES / PAGE];
	int count = 0;

	for (uint64_t i = 0; i < bytes && i < TFS_CHUNK_BYTES; i += PAGE)
		pieces[count++] = (struct iovec){page, PAGE};
	const ssize_t written = pwritev(fd, pieces, count, (off_t)start);
	(void)written;
}

/* Allocates [start, start + bytes) and maps it. posix_fallocate would write where the file system
 * has no fallocate; that is as good, and reports a full disk the same way. */
static void *map_part(int fd, uint64_t start, uint64_t bytes)
{
	if (!within_limits(start + bytes)) {
		errno = EFBIG;
		return NULL;
	}
	int failed = EINTR;
	for (int i = 0; i < 8 && failed == EINTR; i++)
		failed = posix_fallocate(fd, (off_t)start, (off_t)bytes);
	if (failed != 0) {
		errno = failed;
		return NULL;
	}
	write_zeroes(fd, start, bytes);
	char *part = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)start);

	if (part == MAP_FAILED)
		return NULL;
	/* MAP_POPULATE would map shared pages for reading only, and every first store would fault.
	 */
	for (uint64_t i = 0; i < bytes; i += PAGE)
		*(volatile char *)(part + i) = 0;
	return part;
}

int tfs_writer_open(struct tfs_writer *writer, const char *path, uint64_t limit_bytes)
{
	struct stat status;

	if (strlen(path) >= sizeof(writer->path))
		return -ENAMETOOLONG;
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	struct tfs_file_header *header = map_part(fd, 0, TFS_HEADER_BYTES);
	if (header == NULL || fstat(fd, &status) != 0) {
		const int failed = errno;
		unlink(path);
		close(fd);
		return -failed;
	}
	close(fd);
	strcpy(writer->path, path);
	writer->device = status.st_dev;
	writer->inode = status.st_ino;
	writer->limit_bytes = limit_bytes;
	atomic_store(&writer->next_chunk, 0);
	memcpy(header->magic, TFS_MAGIC, sizeof(header->magic));
	header->version = TFS_FORMAT_VERSION;
	header->header_bytes = TFS_HEADER_BYTES;
	header->chunk_bytes = TFS_CHUNK_BYTES;
	header->limit_bytes = limit_bytes;
	writer->header = header;
	return 0;
}

static int reopen(const struct tfs_writer *writer)
{
	struct stat status;
	const int fd = open(writer->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && status.st_dev == writer->device &&
		status.st_ino == writer->inode)
		return fd;
	close(fd);
	return -1;
}

static struct tfs_chunk *make_chunk(const struct tfs_writer *writer, uint64_t start)
{
	if (start + TFS_CHUNK_BYTES > writer->limit_bytes)
		return NULL;
	const int fd = reopen(writer);
	if (fd < 0)
		return NULL;
	struct tfs_chunk *chunk = map_part(fd, start, TFS_CHUNK_BYTES);
	close(fd);
	if (chunk != NULL)
		chunk->offset = start;
	return chunk;
}

struct tfs_chunk *tfs_writer_chunk(struct tfs_writer *writer, bool again)
{
	if (writer->header == NULL ||
		(!again && atomic_load_explicit(&writer->full, memory_order_relaxed)))
		return NULL;
	const uint64_t number = atomic_fetch_add(&writer->next_chunk, 1);
	uint64_t next = number + 1;
	struct tfs_chunk *chunk = make_chunk(writer, TFS_HEADER_BYTES + number * TFS_CHUNK_BYTES);

	/* The place may be had later; where others asked meanwhile, it stays a hole. */
	if (chunk == NULL)
		atomic_compare_exchange_strong(&writer->next_chunk, &next, number);
	atomic_store_explicit(&writer->full, chunk == NULL, memory_order_relaxed);
	return chunk;
}

void tfs_writer_take(struct tfs_writer *writer, struct tfs_chunk *chunk, enum tfs_chunk_kind kind,
	uint32_t thread, uint32_t sequence)
{
	chunk->kind = (uint16_t)kind;
	chunk->thread = thread;
	chunk->sequence = sequence;
	__atomic_store_n(&chunk->magic, TFS_CHUNK_MAGIC, __ATOMIC_RELEASE);
	__atomic_fetch_add(&writer->header->chunks_taken, 1, __ATOMIC_RELAXED);
}

uint64_t tfs_writer_unit(const struct tfs_chunk *chunk)
{
	return chunk->offset / TFS_UNIT;
}

void tfs_writer_release(struct tfs_chunk *chunk)
{
	munmap(chunk, TFS_CHUNK_BYTES);
}
