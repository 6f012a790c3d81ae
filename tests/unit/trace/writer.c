/* SPDX-License-Identifier: MIT */
/* The recording's file: what is handed out, when there is no room, when the file is another's. */
#include "shim/trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/trace/trace.h"
#include "tests/test.h"

#define LIMIT (TFS_HEADER_BYTES + 3 * TFS_CHUNK_BYTES)

static char folder[] = "/tmp/tfshim-unit-XXXXXX";
static char path[64];

static struct tfs_writer writer;

/* Stands for the C library's, which can be made to fail. */
static bool refused;

int mprotect(void *address, size_t bytes, int protection)
{
	if (refused) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, address, bytes, protection);
}

static int open_writer(struct tfs_writer *one, const char *at, uint64_t limit)
{
	const int err = tfs_writer_begin(one, limit, NULL);

	return err ? err : tfs_writer_create(one, at);
}

static void start(uint64_t limit)
{
	unlink(path);
	memset(&writer, 0, sizeof(writer));
	TEST_NEED(open_writer(&writer, path, limit) == 0);
}

static uint64_t file_bytes(void)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static struct tfs_chunk *take(uint32_t thread, uint32_t sequence, enum tfs_room room)
{
	const struct tfs_chunk wanted = {.kind = TFS_CHUNK_RECORDS,
		.thread = thread,
		.sequence = sequence,
		.bytes = TFS_CHUNK_BYTES};

	return tfs_writer_chunk(&writer, &wanted, room);
}

/* Adds a record of a thread's that has this number. */
static void put(struct tfs_chunk *chunk, uint32_t tid)
{
	const struct tfs_thread_record record = {
		.record = {.kind = TFS_RECORD_thread, .units = 1}, .index = 5, .tid = tid};

	memcpy((char *)(chunk + 1) + chunk->committed, &record, sizeof(record));
	chunk->committed += sizeof(record);
}

static struct tfs_trace *read_back(size_t records)
{
	struct tfs_trace *trace = NULL;

	TEST_NEED(tfs_trace_open(path, NULL, &trace) == 0);
	TEST_EQ(tfs_trace_summary(trace)->damages, 0);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_thread), records);
	return trace;
}

static void test_open(void)
{
	struct tfs_writer other = {0};
	char longest[PATH_MAX + 1];

	start(LIMIT);
	TEST_EQ(memcmp(writer.header->magic, TFS_MAGIC, 8), 0);
	TEST_EQ(writer.header->limit_bytes, LIMIT);
	const uint64_t bytes = file_bytes();
	TEST_IN(bytes, TFS_HEADER_BYTES, 4 * TFS_HEADER_BYTES);
	/* Whatever fails from now on. */
	tfs_trace_close(read_back(0));
	/* Somebody's file is left as it is. */
	TEST_EQ(open_writer(&other, path, LIMIT), -EEXIST);
	TEST_TRUE(!tfs_writer_flush(&other, true));
	TEST_EQ(file_bytes(), bytes);
	TEST_EQ(open_writer(&other, "/nowhere/at/all", LIMIT), -ENOENT);
	memset(longest, 'x', PATH_MAX);
	longest[PATH_MAX] = '\0';
	TEST_EQ(open_writer(&other, longest, LIMIT), -ENAMETOOLONG);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	tfs_trace_close(read_back(0));
}

/* What is committed comes to the file, and memory is used again, as new. */
static void test_chunks(void)
{
	start(16 * LIMIT);
	struct tfs_chunk *first = take(5, 0, TFS_ROOM_CALLS);
	TEST_NEED(first);
	TEST_EQ(first->offset, TFS_HEADER_BYTES);
	TEST_EQ(tfs_writer_unit(first) * TFS_UNIT, first->offset);
	TEST_TRUE(tfs_writer_flush(&writer, false));
	put(first, 100);
	tfs_trace_close(read_back(0));
	TEST_TRUE(tfs_writer_flush(&writer, false));
	tfs_trace_close(read_back(1));
	for (uint32_t i = 1; i < 20; i++) {
		struct tfs_chunk *chunk = take(5, i, TFS_ROOM_CALLS);

		TEST_NEED(chunk);
		TEST_EQ(chunk->offset, TFS_HEADER_BYTES + (uint64_t)i * TFS_CHUNK_BYTES);
		for (size_t at = sizeof(*chunk); at < TFS_CHUNK_BYTES; at++)
			TEST_NEED(((const char *)chunk)[at] == 0);
		put(chunk, 100 + i);
		put(chunk, 200 + i);
		tfs_writer_retire(&writer, chunk);
		TEST_TRUE(tfs_writer_flush(&writer, false));
	}
	TEST_IN(atomic_load(&writer.area->used), 1, 3);
	tfs_writer_lost(&writer, TFS_LOSS_strings_cut, 2);
	tfs_writer_lost(&writer, TFS_LOSS_strings_cut, 3);
	put(first, 300);
	TEST_TRUE(tfs_writer_flush(&writer, false));
	struct tfs_trace *trace = read_back(40);
	TEST_EQ(tfs_trace_header(trace)->chunks_taken, 20);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_strings_cut], 5);
	tfs_trace_close(trace);
}

/* What gives calls their meaning, and what became of rewrites, have room when calls have none. */
static void test_cap(void)
{
	start(LIMIT * 4);
	uint32_t calls = 0;
	uint32_t more = 0;

	for (; take(1, calls, TFS_ROOM_CALLS); calls++)
		TEST_NEED(calls < 20);
	TEST_TRUE(!take(1, calls, TFS_ROOM_CALLS));
	for (; take(0, more, TFS_ROOM_OUTCOMES); more++)
		TEST_NEED(more < 20);
	TEST_EQ(calls, 10);
	TEST_EQ(more, 2);
}

/* The kernel has no memory: there is no chunk, until it has some again. */
static void test_no_memory(void)
{
	start(16 * LIMIT);
	refused = true;
	errno = EPERM;
	TEST_TRUE(!take(1, 0, TFS_ROOM_CALLS));
	TEST_EQ(errno, EPERM);
	tfs_writer_prepare(&writer);
	TEST_TRUE(!take(1, 0, TFS_ROOM_CALLS));
	TEST_EQ(atomic_load(&writer.area->used), 0);
	refused = false;
	struct tfs_chunk *chunk = take(1, 0, TFS_ROOM_CALLS);
	TEST_NEED(chunk);
	put(chunk, 1);
	TEST_EQ(chunk->offset, TFS_HEADER_BYTES);
	TEST_EQ(atomic_load(&writer.area->used), 1);
	TEST_TRUE(tfs_writer_flush(&writer, false));
	tfs_trace_close(read_back(1));
}

/* A disk that takes nothing: what waits has its bound. */
static void test_waiting(void)
{
	char moved[80];
	uint32_t taken = 0;

	snprintf(moved, sizeof(moved), "%s/moved.tfs", folder);
	start(512 * LIMIT);
	TEST_EQ(rename(path, moved), 0);
	for (struct tfs_chunk *chunk; (chunk = take(1, taken, TFS_ROOM_CALLS)); taken++) {
		TEST_NEED(taken < 200);
		put(chunk, taken);
		tfs_writer_retire(&writer, chunk);
		TEST_TRUE(!tfs_writer_flush(&writer, true));
	}
	TEST_EQ(taken, 128);
	TEST_EQ(rename(moved, path), 0);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	TEST_TRUE(take(1, taken, TFS_ROOM_CALLS));
	tfs_trace_close(read_back(128));
}

/* The process's own limit: no signal, and room again when it is raised. */
static void test_size_limit(void)
{
	struct rlimit before;
	struct rlimit tight;
	struct tfs_writer other = {0};
	char elsewhere[80];

	snprintf(elsewhere, sizeof(elsewhere), "%s/other.tfs", folder);
	start(LIMIT * 4);
	struct tfs_chunk *chunk = take(1, 0, TFS_ROOM_CALLS);
	TEST_NEED(chunk);
	TEST_NEED(getrlimit(RLIMIT_FSIZE, &before) == 0);
	tight = before;
	tight.rlim_cur = TFS_HEADER_BYTES - 1;
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &tight) == 0);
	TEST_EQ(open_writer(&other, elsewhere, LIMIT), -EFBIG);
	TEST_EQ(access(elsewhere, F_OK), -1);
	put(chunk, 1);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &before) == 0);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	tfs_trace_close(read_back(1));
}

/* What another thread commits while the file is written for the last time: its header, that is. */
int __real_tfs_area_put(
	struct tfs_area *area, int fd, const void *bytes, size_t count, uint64_t offset);
int __wrap_tfs_area_put(
	struct tfs_area *area, int fd, const void *bytes, size_t count, uint64_t offset);

static struct tfs_chunk *late;

int __wrap_tfs_area_put(
	struct tfs_area *area, int fd, const void *bytes, size_t count, uint64_t offset)
{
	if (late)
		put(late, 100);
	late = NULL;
	return __real_tfs_area_put(area, fd, bytes, count, offset);
}

static void test_late(void)
{
	start(LIMIT * 4);
	struct tfs_chunk *chunk = take(1, 0, TFS_ROOM_CALLS);
	TEST_NEED(chunk);
	put(chunk, 1);
	late = chunk;
	TEST_TRUE(tfs_writer_finish(&writer));
	TEST_TRUE(!late);
	struct tfs_trace *trace = read_back(1);
	TEST_EQ(tfs_trace_header(trace)->finished, 1);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_records_dropped], 0);
	tfs_trace_close(trace);
}

/* What is lost at the end is not in the file, and what is in the file is not lost: also what comes
 * after the end. */
static void test_finish(void)
{
	struct rlimit before;
	struct rlimit tight;

	start(LIMIT * 4);
	struct tfs_chunk *chunk = take(1, 0, TFS_ROOM_CALLS);
	TEST_NEED(chunk);
	put(chunk, 1);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	put(chunk, 2);
	TEST_NEED(getrlimit(RLIMIT_FSIZE, &before) == 0);
	tight = before;
	tight.rlim_cur = TFS_HEADER_BYTES - 1;
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &tight) == 0);
	TEST_TRUE(tfs_writer_finish(&writer));
	TEST_EQ(writer.header->lost[TFS_LOSS_records_dropped], 1);
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &before) == 0);
	put(chunk, 3);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	tfs_trace_close(read_back(1));
}

/* The path now names another file: it is not ours to write to. One that was cut is ours no more. */
static void test_replaced(void)
{
	char moved[80];

	snprintf(moved, sizeof(moved), "%s/moved.tfs", folder);
	start(LIMIT * 4);
	struct tfs_chunk *chunk = take(1, 0, TFS_ROOM_CALLS);
	TEST_NEED(chunk);
	put(chunk, 1);
	TEST_EQ(rename(path, moved), 0);
	TEST_TRUE(!tfs_writer_flush(&writer, true));
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	TEST_NEED(fd >= 0);
	TEST_TRUE(!tfs_writer_flush(&writer, true));
	TEST_EQ(file_bytes(), 0);
	TEST_EQ(close(fd), 0);
	TEST_EQ(unlink(path), 0);
	TEST_EQ(symlink(moved, path), 0);
	TEST_TRUE(!tfs_writer_flush(&writer, true));
	TEST_EQ(unlink(path), 0);
	TEST_EQ(rename(moved, path), 0);
	TEST_TRUE(tfs_writer_flush(&writer, true));
	tfs_trace_close(read_back(1));
	/* No descriptor is kept. */
	const int next = dup(STDOUT_FILENO);
	TEST_EQ(next, fd);
	close(next);
	TEST_EQ(truncate(path, 0), 0);
	put(chunk, 2);
	TEST_TRUE(!tfs_writer_flush(&writer, true));
	TEST_EQ(file_bytes(), 0);
	TEST_TRUE(!take(1, 1, TFS_ROOM_CALLS));
}

int main(void)
{
	TEST_NEED(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.tfs", folder);
	test_open();
	test_chunks();
	test_cap();
	test_no_memory();
	test_waiting();
	test_size_limit();
	test_late();
	test_finish();
	test_replaced();
	unlink(path);
	TEST_EQ(rmdir(folder), 0);
	return test_result();
}
