/* SPDX-License-Identifier: MIT */
/*
 * Many threads record, end and begin again while another one writes the file, as in a traced
 * process: built with ThreadSanitizer, which ends the test where two of them race.
 */
#include <pthread.h>

#include "shim/record/listeners.h"
#include "shim/resolve/lookup.h"
#include "tests/unit/trace/recording.h"

#define THREADS 6
#define ROUNDS 4
#define RECORDS 3000
#define NAMES 50

/* What stands around the recorder in the library. */
static bool running(void)
{
	return true;
}

static bool is_parents(void)
{
	return false;
}

static void before(const struct tfs_function *function)
{
	(void)function;
}

const struct tfs_listeners tfs_listeners = {
	.running = running, .forget_parents = is_parents, .fills = before};

void tfs_lookup_recheck_at(uint64_t address)
{
	(void)address;
}

static atomic_bool over;

static void *write_all(void *nothing)
{
	while (!atomic_load(&over))
		tfs_recorder_write();
	return nothing;
}

static void put_range(uint32_t name, uint32_t number)
{
	const struct tfs_range_record range = {
		.range = TFS_RANGE_MARK, .name = name, .start_ticks = number};

	tfs_recorder_put(&range, TFS_RECORD_range, sizeof(range));
}

/* As a call does: in the thread's own stream. */
static void put_own(struct tfs_thread *thread, uint32_t number)
{
	struct tfs_range_record *own =
		tfs_recorder_reserve(thread, TFS_RECORD_range, sizeof(*own) / TFS_UNIT);

	if (TEST_TRUE(own)) {
		own->start_ticks = number;
		tfs_recorder_commit(thread, own);
	}
}

static void *record_all(void *nothing)
{
	struct tfs_thread *thread = tfs_recorder_named_thread("recording");
	char text[32];

	TEST_NEED(thread);
	for (uint32_t i = 0; i < RECORDS; i++) {
		snprintf(text, sizeof(text), "name %u", (unsigned)(i % NAMES));
		put_range(tfs_recorder_string(text), i);
		put_own(thread, i);
		tfs_recorder_lost(TFS_LOSS_steps_dropped, 1);
		if (i % 500 == 0)
			tfs_recorder_fact(TFS_FACT_step_range, text, i, 0);
	}
	return nothing;
}

int main(void)
{
	pthread_t threads[THREADS], writer;

	recording_start();
	TEST_NEED(pthread_create(&writer, NULL, write_all, NULL) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < THREADS; i++)
			TEST_NEED(pthread_create(&threads[i], NULL, record_all, NULL) == 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	atomic_store(&over, true);
	pthread_join(writer, NULL);

	struct tfs_trace *trace = recording_read();
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_range), 2 * THREADS * ROUNDS * RECORDS);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_steps_dropped], THREADS * ROUNDS * RECORDS);
	printf("%zu records of %d threads\n", tfs_trace_count(trace, TFS_RECORD_range),
		THREADS * ROUNDS);
	recording_end(trace);
	return test_result();
}
