/* SPDX-License-Identifier: MIT */
/* Ids of streams: the default ones, made anew, one per thread, too many. */
#include "shim/state/streams.h"

#include <pthread.h>

#include "tests/unit/trace/recording.h"

#define MOST 4096

static const void *handle(uintptr_t number)
{
	return (const void *)(number * 64);
}

static uint16_t others_default;
static uint16_t others_stream;

static void *ask(void *nothing)
{
	tfs_recorder_named_thread("other");
	others_default = tfs_stream_id(NULL, 1);
	others_stream = tfs_stream_id(handle(1000), 0);
	return nothing;
}

static const struct tfs_stream_record *defined(const struct tfs_trace *trace, uint16_t id)
{
	const struct tfs_stream_record *record = tfs_trace_find(trace, TFS_RECORD_stream, id);

	TEST_NEED(record);
	return record;
}

int main(void)
{
	pthread_t thread;

	recording_start();
	tfs_recorder_named_thread("test");
	const uint16_t legacy = tfs_stream_id(NULL, 0);
	const uint16_t per_thread = tfs_stream_id(NULL, 1);
	TEST_TRUE(legacy != 0 && legacy != per_thread);
	/* cudaStreamLegacy and cudaStreamPerThread, whatever the null stream means. */
	TEST_EQ(tfs_stream_id((const void *)1, 1), legacy);
	TEST_EQ(tfs_stream_id((const void *)2, 0), per_thread);

	tfs_stream_created(handle(1000), TFS_STREAM_NON_BLOCKING);
	const uint16_t first = tfs_stream_id(handle(1000), 0);
	TEST_EQ(tfs_stream_id(handle(1000), 1), first);
	TEST_NEED(pthread_create(&thread, NULL, ask, NULL) == 0);
	pthread_join(thread, NULL);
	TEST_EQ(others_stream, first);
	TEST_TRUE(others_default != per_thread && others_default != legacy);

	/* Destroyed and made anew under the same handle; the latest call named the old one. */
	tfs_stream_created(handle(1000), 0);
	const uint16_t second = tfs_stream_id(handle(1000), 0);
	TEST_TRUE(second != first);
	TEST_EQ(tfs_stream_id(handle(1000), 0), second);
	/* One that nobody saw created. */
	const uint16_t unseen = tfs_stream_id(handle(2000), 0);
	TEST_TRUE(unseen != second && unseen != TFS_NO_STREAM);

	for (uintptr_t i = 0; i < MOST; i++)
		tfs_stream_id(handle(3000 + i), 0);
	TEST_EQ(tfs_stream_id(handle(9000), 0), TFS_NO_STREAM);
	TEST_EQ(tfs_stream_id(handle(2000), 0), unseen);
	TEST_EQ(tfs_stream_id(NULL, 0), legacy);

	struct tfs_trace *trace = recording_read();
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_stream), MOST);
	TEST_EQ(defined(trace, legacy)->flags, TFS_STREAM_LEGACY);
	TEST_EQ(defined(trace, per_thread)->flags, TFS_STREAM_PER_THREAD);
	TEST_EQ(defined(trace, others_default)->flags, TFS_STREAM_PER_THREAD);
	TEST_EQ(defined(trace, first)->flags, TFS_STREAM_NON_BLOCKING);
	TEST_EQ(defined(trace, second)->flags, 0);
	TEST_EQ(defined(trace, first)->handle, (uintptr_t)handle(1000));
	TEST_EQ(defined(trace, second)->handle, (uintptr_t)handle(1000));
	TEST_EQ(defined(trace, unseen)->handle, (uintptr_t)handle(2000));
	recording_end(trace);
	return test_result();
}
