/* SPDX-License-Identifier: MIT */
/*
 * One thread makes, writes and ends the recording, and does what many others ask it for, while they
 * record; then it ends, and whoever asks does it himself. Each job is done once, and what it did is
 * there for who asked.
 */
#include <pthread.h>

#include "shim/record/files.h"
#include "tests/unit/trace/recording.h"

#define THREADS 6u
#define ASKS 400u
#define PUTS 20u /* for each of them */

static unsigned long jobs; /* the serving thread's alone */
static unsigned seen_by[THREADS];
static atomic_uint unanswered;

static void count_job(void)
{
	jobs++;
}

#define JOB(i)                                                                                     \
	static void job_##i(void)                                                                  \
	{                                                                                          \
		count_job();                                                                       \
		seen_by[i]++;                                                                      \
	}
JOB(0)
JOB(1)
JOB(2)
JOB(3)
JOB(4)
JOB(5)

static void (*const job_of[THREADS])(void) = {job_0, job_1, job_2, job_3, job_4, job_5};

static void *serve(void *nothing)
{
	while (tfs_files_serve())
		tfs_recorder_write();
	tfs_files_served(false);
	return nothing;
}

static void put(uint32_t number)
{
	const struct tfs_range_record range = {.range = TFS_RANGE_MARK, .start_ticks = number};

	for (uint32_t i = 0; i < PUTS; i++)
		tfs_recorder_put(&range, TFS_RECORD_range, sizeof(range));
}

static void *ask(void *argument)
{
	const uintptr_t number = (uintptr_t)argument;

	for (unsigned i = 0; i < ASKS; i++) {
		const unsigned before = seen_by[number];

		put(i);
		/* A machine with much to do may have no second for it. */
		if (tfs_files_ask_last(job_of[number]))
			TEST_EQ(seen_by[number], before + 1);
		else
			atomic_fetch_add(&unanswered, 1);
	}
	return NULL;
}

static void start(pthread_t *server)
{
	static char pattern[sizeof(recording_folder) + 2];

	TEST_NEED(mkdtemp(recording_folder));
	snprintf(pattern, sizeof(pattern), "%s/x", recording_folder);
	tfs_options.output = pattern;
	tfs_options.quiet = true;
	tfs_clock_init();
	TEST_NEED(tfs_recorder_begin() == 0);
	tfs_files_served(true);
	TEST_NEED(pthread_create(server, NULL, serve, NULL) == 0);
	TEST_TRUE(tfs_files_ask_last(tfs_recorder_create));
	TEST_EQ(tfs_recorder_created(), 0);
}

int main(void)
{
	pthread_t threads[THREADS], server;
	struct tfs_trace *trace = NULL;

	start(&server);
	for (uintptr_t i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, ask, (void *)i) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	TEST_TRUE(tfs_files_answer(tfs_files_finish));
	pthread_join(server, NULL);
	TEST_TRUE(tfs_files_whole());
	TEST_TRUE(tfs_files_ask(count_job));
	TEST_EQ(jobs, THREADS * ASKS + 1);
	TEST_EQ(unanswered, 0);
	TEST_NEED(tfs_trace_open(tfs_recording.path, NULL, &trace) == 0);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_range), THREADS * ASKS * PUTS);
	printf("%lu jobs of %u threads, %zu records\n", jobs, THREADS,
		tfs_trace_count(trace, TFS_RECORD_range));
	recording_end(trace);
	return test_result();
}
