/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_pieces.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/base/threads.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/pinned_staging/pinned_staging_limits.h"

/* Mutants: the copy threads touch the program's memory. */
#define NAIVE_TOUCH (1u << 22)

#define MOST_SETS 16u
#define MOST_THREADS 16u
#define ALLOWED_NS UINT64_C(1000000) /* how long an answer about idle processors holds */

static _Atomic(struct tfs_staging_pieces *) sets[MOST_SETS];
static _Atomic uint32_t wakeups; /* futex */
static _Atomic uint32_t sleeping;
static _Atomic uint32_t allowed;    /* threads from this number on leave pieces alone */
static _Atomic uint64_t allowed_ns; /* since when */
static _Atomic uint32_t running;
static _Atomic bool starting; /* only ever tried */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	const struct timespec second = {.tv_sec = 1};

	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, &second, NULL, 0);
}

static void wake(uint32_t count)
{
	atomic_fetch_add(&wakeups, 1);
	if (atomic_load(&sleeping) > 0)
		futex(&wakeups, FUTEX_WAKE, count);
}

/* The kernel touches the program's end, and says so when it cannot. */
static bool copy_piece(const struct tfs_staging_piece *piece)
{
	const struct iovec chunk = {piece->chunk, piece->bytes};
	const struct iovec program = {piece->program, piece->bytes};
	const pid_t self = getpid();

	if (TFS_MUTANT(NAIVE_TOUCH)) {
		memcpy(piece->writes ? piece->program : piece->chunk,
			piece->writes ? piece->chunk : piece->program, piece->bytes);
		return true;
	}
	const ssize_t done = piece->writes ? process_vm_writev(self, &chunk, 1, &program, 1, 0)
					   : process_vm_readv(self, &chunk, 1, &program, 1, 0);
	return done == (ssize_t)piece->bytes;
}

bool tfs_staging_pieces_can(void)
{
	static _Atomic int answer; /* 0: not asked yet */
	char one[2] = {0};
	const struct tfs_staging_piece there = {one, one + 1, 1, .writes = false};
	const struct tfs_staging_piece back = {one, one + 1, 1, .writes = true};

	if (answer == 0)
		answer = copy_piece(&there) && copy_piece(&back) ? 1 : -1;
	return answer > 0;
}

/* Copies the next piece below `limit`; false when there is none. */
static bool copy_one(struct tfs_staging_pieces *set, uint64_t limit)
{
	uint64_t number = atomic_load(&set->claimed);
	const uint64_t opened = atomic_load(&set->opened);

	if (limit > opened)
		limit = opened;
	do {
		if (number >= limit)
			return false;
	} while (!atomic_compare_exchange_weak(&set->claimed, &number, number + 1));
	struct tfs_staging_piece *piece = &set->pieces[number % TFS_PIECES];
	if (!atomic_load(&set->failed) && !copy_piece(piece))
		atomic_store(&set->failed, true);
	atomic_store(&piece->done, number + 1);
	if (atomic_load(&set->waiting)) {
		atomic_fetch_add(&set->finished, 1);
		futex(&set->finished, FUTEX_WAKE, 1);
	}
	return true;
}

/* Copy threads that do not sleep. */
static uint32_t awake(void)
{
	const uint32_t all = atomic_load(&running);
	const uint32_t asleep = atomic_load(&sleeping);

	return all > asleep ? all - asleep : 0;
}

static bool copy_any(void)
{
	for (uint32_t i = 0; i < MOST_SETS; i++) {
		struct tfs_staging_pieces *set = atomic_load(&sets[i]);

		if (set && copy_one(set, UINT64_MAX))
			return true;
	}
	return false;
}

/* How many threads may help, as long as this answer holds. */
static void allow(int loadavg)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const uint64_t most = tfs_options.staging_threads;
	uint32_t idle;

	if (now_ns - atomic_load(&allowed_ns) < ALLOWED_NS)
		return;
	atomic_store(&allowed_ns, now_ns);
	/* Who asks for no idle processors gets all threads. */
	idle = tfs_options.staging_cores == 0 ? UINT32_MAX : tfs_staging_idle(loadavg, awake());
	atomic_store(&allowed, idle < most ? idle : (uint32_t)most);
}

static void *work(void *argument)
{
	const uint32_t number = (uint32_t)(uintptr_t)argument;
	int loadavg = -1;

	tfs_self.busy = true;
	tfs_threads_begin("tfshim-copy");
	if (tfs_threads_own_descriptors())
		loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	while (!tfs_threads_alone()) {
		const uint32_t seen = atomic_load(&wakeups);

		allow(loadavg);
		if (number < atomic_load(&allowed) && copy_any()) {
			/* The program's own threads come first. */
			sched_yield();
			continue;
		}
		atomic_fetch_add(&sleeping, 1);
		futex(&wakeups, FUTEX_WAIT, seen);
		atomic_fetch_sub(&sleeping, 1);
	}
	return NULL;
}

static void start(uint32_t count)
{
	bool refused = false;

	if (atomic_load(&running) >= count || atomic_exchange(&starting, true))
		return;
	for (uint32_t i = atomic_load(&running); i < count && !refused; i++) {
		refused = !tfs_threads_start(work, (void *)(uintptr_t)i);
		if (!refused)
			atomic_fetch_add(&running, 1);
	}
	if (refused)
		tfs_recorder_fact(TFS_FACT_staging_threads, NULL, count, 0);
	/* Refused once, it stays at what there is. */
	atomic_store(&starting, refused);
}

static void list(struct tfs_staging_pieces *set)
{
	for (uint32_t i = 0; i < MOST_SETS && !atomic_load(&set->listed); i++) {
		struct tfs_staging_pieces *none = NULL;

		if (atomic_compare_exchange_strong(&sets[i], &none, set))
			atomic_store(&set->listed, true);
	}
}

void tfs_staging_pieces_begin(struct tfs_staging_pieces *set, size_t bytes)
{
	const uint32_t most = tfs_options.staging_threads < MOST_THREADS
				      ? (uint32_t)tfs_options.staging_threads
				      : MOST_THREADS;

	set->helpers = 0;
	atomic_store(&set->failed, false);
	if (bytes < 4 * TFS_PIECE_BYTES || most == 0)
		return;
	if (atomic_load(&running) == 0)
		allow(-1);
	start(most);
	list(set);
	const uint32_t there = atomic_load(&running);
	set->helpers = atomic_load(&allowed);
	if (set->helpers > there)
		set->helpers = there;
	/* Someone has to notice when there are idle processors again. */
	if (set->helpers == 0 &&
		tfs_clock_ns(CLOCK_MONOTONIC) - atomic_load(&allowed_ns) > 10 * ALLOWED_NS)
		wake(1);
}

uint64_t tfs_staging_pieces_open(
	struct tfs_staging_pieces *set, void *chunk, void *program, size_t bytes, bool writes)
{
	const uint64_t first = atomic_load(&set->opened);
	uint64_t number = first;

	for (size_t done = 0; done < bytes; number++) {
		struct tfs_staging_piece *piece = &set->pieces[number % TFS_PIECES];
		const size_t rest = bytes - done;

		piece->chunk = (char *)chunk + done;
		piece->program = (char *)program + done;
		piece->bytes = rest < TFS_PIECE_BYTES ? rest : TFS_PIECE_BYTES;
		piece->writes = writes;
		done += piece->bytes;
	}
	atomic_store(&set->opened, number);
	/* Without help there is no hurry: the owner copies when it needs the range. */
	if (set->helpers > 0 && number - first > 1)
		wake(set->helpers);
	return number;
}

bool tfs_staging_pieces_finish(struct tfs_staging_pieces *set, uint64_t number)
{
	while (copy_one(set, number))
		;
	for (uint64_t i = number > TFS_PIECES ? number - TFS_PIECES : 0; i < number; i++) {
		struct tfs_staging_piece *piece = &set->pieces[i % TFS_PIECES];

		while (atomic_load(&piece->done) < i + 1) {
			const uint32_t seen = atomic_load(&set->finished);

			atomic_store(&set->waiting, true);
			if (atomic_load(&piece->done) < i + 1)
				futex(&set->finished, FUTEX_WAIT, seen);
		}
	}
	atomic_store(&set->waiting, false);
	return !atomic_load(&set->failed);
}

uint32_t tfs_staging_pieces_threads(void)
{
	return atomic_load(&running);
}
