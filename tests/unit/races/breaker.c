/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker while many threads are the first to act and many end the process, beside the
 * thread that touches files; in processes of their own, since each has one mark. No rewrite acts
 * before there is a mark, and none is left.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "shim/record/files.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "tests/unit/trace/recording.h"

#define PROCESSES 20u
#define THREADS 6u
#define ENDS 3u

static pthread_barrier_t at_once;
static const char *off_file;
static bool off;
static atomic_uint acted;

static void *serve(void *nothing)
{
	while (tfs_files_serve()) {
		tfs_recorder_write();
		tfs_breaker_hold();
	}
	tfs_files_served(false);
	return nothing;
}

/* Beside the recording. */
static unsigned count_marks(void)
{
	char command[128];
	unsigned count = 0;

	snprintf(command, sizeof(command), "find %s -name '*.acting-*' | wc -l", recording_folder);
	FILE *output = popen(command, "r");
	TEST_NEED(output && fscanf(output, "%u", &count) == 1);
	pclose(output);
	return count;
}

static void *act(void *nothing)
{
	pthread_barrier_wait(&at_once);
	if (tfs_rewrite_apply(tfs_rewrite_all[0], 8))
		atomic_fetch_add(&acted, 1);
	return nothing;
}

static void *end(void *nothing)
{
	pthread_barrier_wait(&at_once);
	tfs_breaker_disarm();
	return nothing;
}

static void look(void)
{
	off = tfs_breaker_tripped(&off_file);
}

static void run_at_once(void *(*run)(void *), unsigned count)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&at_once, NULL, count);
	for (unsigned i = 0; i < count; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, run, NULL) == 0);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&at_once);
}

static int run_process(void)
{
	static char pattern[sizeof(recording_folder) + 2];
	pthread_t server;

	snprintf(pattern, sizeof(pattern), "%s/x", recording_folder);
	tfs_options.output = pattern;
	tfs_options.quiet = true;
	tfs_clock_init();
	TEST_NEED(tfs_recorder_begin() == 0);
	tfs_files_served(true);
	TEST_NEED(pthread_create(&server, NULL, serve, NULL) == 0);
	TEST_NEED(tfs_files_ask_last(tfs_recorder_create) && tfs_recorder_created() == 0);
	TEST_NEED(tfs_files_ask_last(look));
	TEST_TRUE(!off);
	tfs_rewrite_mode_of[0] = TFS_MODE_APPLY;
	tfs_ledger_start(0);
	run_at_once(act, THREADS);
	TEST_EQ(acted, THREADS);
	TEST_EQ(count_marks(), 1);
	run_at_once(end, ENDS);
	TEST_EQ(count_marks(), 0);
	TEST_TRUE(tfs_files_answer(tfs_files_finish));
	pthread_join(server, NULL);
	unlink(tfs_recording.path);
	return test_result();
}

int main(void)
{
	char command[96];
	unsigned good = 0;
	int status;

	TEST_NEED(mkdtemp(recording_folder));
	for (unsigned i = 0; i < PROCESSES; i++) {
		const pid_t child = fork();

		TEST_NEED(child >= 0);
		if (child == 0)
			exit(run_process());
		TEST_NEED(waitpid(child, &status, 0) == child);
		good += status == 0;
	}
	TEST_EQ(good, PROCESSES);
	snprintf(command, sizeof(command), "rm -r %s", recording_folder);
	TEST_EQ(system(command), 0);
	printf("%u processes, of which %u threads each were the first to act and %u ended them\n",
		PROCESSES, THREADS, ENDS);
	return test_result();
}
