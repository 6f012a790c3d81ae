/* SPDX-License-Identifier: MIT */
#include "shim/record/files.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/base/spin.h"
#include "shim/base/threads.h"
#include "shim/record/recorder.h"

#define SECOND_NS UINT64_C(1000000000)
#define PROMPT_NS UINT64_C(50000000) /* what an answer may take on a machine with much to do */
#define LAST_SECONDS 10
#define MOST_JOBS 16u

struct patience {
	uint64_t most_ns;
	_Atomic uint64_t waited_ns;
};

static struct tfs_spin lock; /* of who asks, and whether anybody serves */
static bool by_another;
static void (*jobs[MOST_JOBS])(void); /* the latest, by their number */
static _Atomic uint32_t asked;        /* so many jobs */
static _Atomic uint32_t done;         /* so many of them; futex */
static _Atomic bool finished;
static _Atomic bool whole;

/* A program may be watched for races: what watches it sees locks, but none of our atomics. Held for
 * no time, in which no handler of the program's may come to ask as well. */
static void hand_over(void)
{
	static pthread_mutex_t hand = PTHREAD_MUTEX_INITIALIZER;
	static const uint64_t all = ~UINT64_C(0);
	uint64_t signals;
	const bool blocked = tfs_spin_signals(SIG_BLOCK, &all, &signals);

	pthread_mutex_lock(&hand);
	pthread_mutex_unlock(&hand);
	if (blocked)
		tfs_spin_signals(SIG_SETMASK, &signals, NULL);
}

void tfs_files_finish(void)
{
	atomic_store(&whole, tfs_recorder_finish());
	atomic_store(&finished, true);
}

void tfs_files_served(bool by_thread)
{
	tfs_spin_lock(&lock);
	by_another = by_thread;
	tfs_spin_unlock(&lock);
	/* What came before nobody served any more. */
	if (!by_thread)
		tfs_files_serve();
}

enum asked { OURSELVES, ANOTHER, NOBODY };

static enum asked put(void (*job)(void), uint32_t *out_number)
{
	enum asked whom = OURSELVES;

	tfs_spin_lock(&lock);
	if (by_another && atomic_load(&asked) - atomic_load(&done) == MOST_JOBS) {
		whom = NOBODY;
	} else if (by_another) {
		jobs[atomic_load(&asked) % MOST_JOBS] = job;
		*out_number = atomic_fetch_add(&asked, 1) + 1;
		whom = ANOTHER;
	}
	tfs_spin_unlock(&lock);
	return whom;
}

static bool ask(void (*job)(void), uint64_t patience_ns)
{
	const uint64_t end_ns = tfs_clock_ns(CLOCK_MONOTONIC) + patience_ns;
	uint32_t number = 0;
	const enum asked whom = put(job, &number);

	if (whom == OURSELVES)
		job();
	if (whom != ANOTHER)
		return whom == OURSELVES;
	hand_over();
	tfs_threads_wake(TFS_CALL_WRITE);
	for (;;) {
		const uint32_t seen = atomic_load(&done);
		const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);

		if ((int32_t)(seen - number) >= 0) {
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

/* With what is left of the patience. */
static bool ask_with(struct patience *patience, void (*job)(void))
{
	const uint64_t before_ns = atomic_load(&patience->waited_ns);
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	if (before_ns >= patience->most_ns)
		return false;
	const bool answered = ask(job, patience->most_ns - before_ns);
	const uint64_t took_ns = tfs_clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (!answered)
		atomic_store(&patience->waited_ns, patience->most_ns);
	else if (took_ns > PROMPT_NS)
		atomic_fetch_add(&patience->waited_ns, took_ns - PROMPT_NS);
	return answered;
}

bool tfs_files_ask(void (*job)(void))
{
	static struct patience patience = {.most_ns = SECOND_NS};

	return ask_with(&patience, job);
}

bool tfs_files_ask_last(void (*job)(void))
{
	static struct patience patience = {.most_ns = LAST_SECONDS * SECOND_NS};

	return ask_with(&patience, job);
}

bool tfs_files_answer(void (*job)(void))
{
	if (tfs_files_ask_last(job))
		return true;
	const bool created = atomic_load(&tfs_recording.created);

	tfs_log_say("the file system of %s did not respond for %d s: %s",
		created ? tfs_recording.path : tfs_options.output, LAST_SECONDS,
		created ? "the recording is incomplete" : "nothing is recorded");
	return false;
}

bool tfs_files_serve(void)
{
	while (atomic_load(&done) != atomic_load(&asked)) {
		const uint32_t number = atomic_load(&done);

		hand_over();
		jobs[number % MOST_JOBS]();
		hand_over();
		atomic_store(&done, number + 1);
		syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	}
	return !atomic_load(&finished);
}

bool tfs_files_whole(void)
{
	return atomic_load(&whole);
}
