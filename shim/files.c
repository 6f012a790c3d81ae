/* SPDX-License-Identifier: MIT */
#include "shim/files.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/clock.h"
#include "shim/env.h"
#include "shim/log.h"
#include "shim/recorder.h"
#include "shim/threads.h"

#define SECOND_NS UINT64_C(1000000000)
#define PATIENCE_SECONDS 10

static _Atomic bool by_another;
static _Atomic uint32_t asked; /* so many jobs */
static _Atomic uint32_t done;  /* the number of the latest; futex */
static _Atomic uint32_t what;
static _Atomic bool whole;

/* A program may be watched for races: what watches it sees locks, but none of our atomics. Held for
 * no time. */
static void hand_over(void)
{
	static pthread_mutex_t hand = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&hand);
	pthread_mutex_unlock(&hand);
}

static void work(uint32_t job)
{
	if (job == TFS_FILES_CREATE)
		tfs_recorder_create();
	else if (job == TFS_FILES_WRITE)
		tfs_recorder_write();
	else
		atomic_store(&whole, tfs_recorder_finish());
}

void tfs_files_served(bool by_thread)
{
	atomic_store(&by_another, by_thread);
}

bool tfs_files_ask(enum tfs_files_job job, uint64_t patience_ns)
{
	const uint64_t end_ns = tfs_clock_ns(CLOCK_MONOTONIC) + patience_ns;

	if (!atomic_load(&by_another)) {
		work(job);
		return true;
	}
	atomic_store(&what, job);
	const uint32_t number = atomic_fetch_add(&asked, 1) + 1;
	tfs_threads_wake(TFS_CALL_WRITE);
	for (;;) {
		const uint32_t seen = atomic_load(&done);
		const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);

		if (seen == number) {
			hand_over();
			return true;
		}
		if (now_ns >= end_ns)
			return false;
		const struct timespec rest = {.tv_sec = (time_t)((end_ns - now_ns) / SECOND_NS),
			.tv_nsec = (long)((end_ns - now_ns) % SECOND_NS)};
		syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, seen, &rest, NULL, 0);
	}
}

bool tfs_files_answer(enum tfs_files_job job)
{
	if (tfs_files_ask(job, PATIENCE_SECONDS * SECOND_NS))
		return true;
	const bool created = atomic_load(&tfs_recording.created);

	tfs_log_say("the file system of %s did not answer for %d s: %s",
		created ? tfs_recording.path : tfs_options.output, PATIENCE_SECONDS,
		created ? "the recording is not whole" : "nothing is recorded");
	return false;
}

bool tfs_files_serve(void)
{
	const uint32_t number = atomic_load(&asked);

	if (number == atomic_load(&done))
		return true;
	const uint32_t job = atomic_load(&what);
	work(job);
	hand_over();
	atomic_store(&done, number);
	syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return job != TFS_FILES_FINISH;
}

bool tfs_files_whole(void)
{
	return atomic_load(&whole);
}
