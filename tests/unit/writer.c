/* SPDX-License-Identifier: MIT */
/* The recording's file: what is handed out, when there is no room, when the file is another's. */
#include "shim/trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/trace/trace.h"
#include "tests/test.h"

#define LIMIT (TFS_HEADER_BYTES + 3 * TFS_CHUNK_BYTES)

static char folder[] = "/tmp/tfshim-unit-XXXXXX";
static char path[64];

static struct tfs_writer writer;

static void start(uint64_t limit)
{
	unlink(path);
	memset(&writer, 0, sizeof(writer));
	TEST_NEED(tfs_writer_open(&writer, path, limit) == 0);
}

static uint64_t file_bytes(void)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static bool all_zero(const struct tfs_chunk *chunk)
{
	const char *bytes = (const char *)(chunk + 1);

	for (size_t i = 0; i < TFS_CHUNK_BYTES - sizeof(*chunk); i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static void test_open(void)
{
	struct tfs_writer other = {0};
	char longest[PATH_MAX + 1];
	struct tfs_trace *trace = NULL;

	start(LIMIT);
	TEST_EQ(memcmp(writer.header->magic, TFS_MAGIC, 8), 0);
	TEST_EQ(writer.header->limit_bytes, LIMIT);
	TEST_EQ(file_bytes(), TFS_HEADER_BYTES);
	/* Somebody's file is left as it is. */
	TEST_EQ(tfs_writer_open(&other, path, LIMIT), -EEXIST);
	TEST_TRUE(other.header == NULL);
	TEST_TRUE(tfs_writer_chunk(&other, true) == NULL);
	TEST_EQ(file_bytes(), TFS_HEADER_BYTES);
	TEST_EQ(tfs_writer_open(&other, "/nowhere/at/all", LIMIT), -ENOENT);
	memset(longest, 'x', PATH_MAX);
	longest[PATH_MAX] = '\0';
	TEST_EQ(tfs_writer_open(&other, longest, LIMIT), -ENAMETOOLONG);
	TEST_EQ(tfs_trace_open(path, NULL, &trace), 0);
	tfs_trace_close(trace);
}

static void test_chunks(void)
{
	struct tfs_chunk *chunks[3];
	struct tfs_trace *trace = NULL;

	start(LIMIT);
	for (uint32_t i = 0; i < 3; i++) {
		chunks[i] = tfs_writer_chunk(&writer, false);
		TEST_NEED(chunks[i] != NULL);
		TEST_EQ(chunks[i]->offset, TFS_HEADER_BYTES + i * TFS_CHUNK_BYTES);
		TEST_EQ(tfs_writer_unit(chunks[i]) * TFS_UNIT, chunks[i]->offset);
		TEST_EQ(chunks[i]->magic, 0);
		TEST_TRUE(all_zero(chunks[i]));
	}
	TEST_EQ(file_bytes(), LIMIT);
	TEST_TRUE(tfs_writer_chunk(&writer, false) == NULL);
	TEST_TRUE(tfs_writer_chunk(&writer, true) == NULL);
	TEST_EQ(file_bytes(), LIMIT);

	/* The second stays in stock; the reader must not mind. */
	tfs_writer_take(&writer, chunks[2], TFS_CHUNK_RECORDS, 5, 0);
	tfs_writer_take(&writer, chunks[0], TFS_CHUNK_RECORDS, 5, 1);
	TEST_EQ(writer.header->chunks_taken, 2);
	const struct tfs_thread_record record = {
		.record = {.kind = TFS_RECORD_thread, .units = 1, .site = 5}, .tid = 321};
	memcpy(chunks[2] + 1, &record, sizeof(record));
	chunks[2]->committed = sizeof(record);
	tfs_writer_lost(&writer, TFS_LOSS_strings_cut, 2);
	tfs_writer_lost(&writer, TFS_LOSS_strings_cut, 3);
	for (int i = 0; i < 3; i++)
		tfs_writer_release(chunks[i]);
	TEST_NEED(tfs_trace_open(path, NULL, &trace) == 0);
	TEST_EQ(tfs_trace_summary(trace)->damages, 0);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_thread), 1);
	const struct tfs_thread_record *found = tfs_trace_at(trace, TFS_RECORD_thread, 0);
	TEST_EQ(found->tid, 321);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_strings_cut], 5);
	tfs_trace_close(trace);
}

/* The process's own limit: no signal, and room again when it is raised. */
static void test_size_limit(void)
{
	struct rlimit before;
	struct rlimit tight;
	struct tfs_writer other = {0};
	char elsewhere[80];

	snprintf(elsewhere, sizeof(elsewhere), "%s/other.tfs", folder);
	start(LIMIT);
	TEST_NEED(getrlimit(RLIMIT_FSIZE, &before) == 0);
	tight = before;
	tight.rlim_cur = TFS_HEADER_BYTES - 1;
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &tight) == 0);
	TEST_EQ(tfs_writer_open(&other, elsewhere, LIMIT), -EFBIG);
	TEST_EQ(access(elsewhere, F_OK), -1);
	tight.rlim_cur = TFS_HEADER_BYTES + TFS_CHUNK_BYTES;
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &tight) == 0);
	struct tfs_chunk *first = tfs_writer_chunk(&writer, false);
	TEST_TRUE(first != NULL);
	TEST_TRUE(tfs_writer_chunk(&writer, false) == NULL);
	TEST_NEED(setrlimit(RLIMIT_FSIZE, &before) == 0);
	/* Whoever is in a hurry does not ask again; the helper does. */
	TEST_TRUE(tfs_writer_chunk(&writer, false) == NULL);
	struct tfs_chunk *second = tfs_writer_chunk(&writer, true);
	TEST_NEED(second != NULL);
	TEST_EQ(second->offset, TFS_HEADER_BYTES + TFS_CHUNK_BYTES);
	struct tfs_chunk *third = tfs_writer_chunk(&writer, false);
	TEST_NEED(third != NULL);
	TEST_EQ(third->offset, TFS_HEADER_BYTES + 2 * TFS_CHUNK_BYTES);
	TEST_TRUE(all_zero(second) && all_zero(third));
}

/* The path now names another file: it is not ours to write to. */
static void test_replaced(void)
{
	char moved[80];

	snprintf(moved, sizeof(moved), "%s/moved.tfs", folder);
	start(LIMIT);
	TEST_EQ(rename(path, moved), 0);
	TEST_TRUE(tfs_writer_chunk(&writer, true) == NULL);
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	TEST_NEED(fd >= 0);
	TEST_TRUE(tfs_writer_chunk(&writer, true) == NULL);
	TEST_EQ(file_bytes(), 0);
	TEST_EQ(close(fd), 0);
	TEST_EQ(unlink(path), 0);
	TEST_EQ(rename(moved, path), 0);
	struct tfs_chunk *chunk = tfs_writer_chunk(&writer, true);
	TEST_NEED(chunk != NULL);
	TEST_EQ(chunk->offset, TFS_HEADER_BYTES);
	/* No descriptor is kept. */
	const int next = dup(STDOUT_FILENO);
	TEST_EQ(next, fd);
	close(next);
}

int main(void)
{
	TEST_NEED(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/x.tfs", folder);
	test_open();
	test_chunks();
	test_size_limit();
	test_replaced();
	unlink(path);
	TEST_EQ(rmdir(folder), 0);
	return test_result();
}
