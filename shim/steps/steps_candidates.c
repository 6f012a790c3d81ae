/* SPDX-License-Identifier: MIT */
#include "shim/steps/steps_candidates.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "shim/steps/loops/loops.h"

#define CANDIDATES 4u      /* threads that are searched at a time */
#define SILENT_CALLS 4096u /* of others, after which a thread's place is another's */
#define COUNTED 64u        /* calls of a thread, at a time */

static struct tfs_step_candidate candidates[CANDIDATES];
static _Atomic uint64_t calls_searched; /* of all threads, but for the latest of each */

struct tfs_loops *tfs_step_candidates_make_loops(void)
{
	const int saved = errno;
	void *memory = mmap(NULL, tfs_loops_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return memory != MAP_FAILED ? tfs_loops_init(memory) : NULL;
}

bool tfs_step_candidates_start(void)
{
	candidates[0].loops = tfs_step_candidates_make_loops();
	return tfs_step_candidates_ready();
}

bool tfs_step_candidates_ready(void)
{
	return candidates[0].loops;
}

static bool take(struct tfs_step_candidate *candidate)
{
	return !atomic_exchange_explicit(&candidate->busy, true, memory_order_acquire);
}

void tfs_step_candidate_leave(struct tfs_step_candidate *candidate)
{
	atomic_store_explicit(&candidate->busy, false, memory_order_release);
}

/* A place that nobody has, or whose thread has long been silent; taken. */
static struct tfs_step_candidate *claim(struct tfs_thread *thread)
{
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		struct tfs_step_candidate *candidate = &candidates[i];

		if (!take(candidate))
			continue;
		if (!candidate->thread || candidate->latest + SILENT_CALLS < calls_searched) {
			if (!candidate->loops)
				candidate->loops = tfs_step_candidates_make_loops();
			if (candidate->thread && candidate->loops)
				tfs_loops_restart(candidate->loops);
			__atomic_store_n(&candidate->calls, 0, __ATOMIC_RELAXED);
			candidate->latest = calls_searched;
			__atomic_store_n(&candidate->thread, thread, __ATOMIC_RELAXED);
			return candidate;
		}
		tfs_step_candidate_leave(candidate);
	}
	return NULL;
}

struct tfs_step_candidate *tfs_step_candidate_of(struct tfs_thread *thread)
{
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		struct tfs_step_candidate *candidate = &candidates[i];

		if (__atomic_load_n(&candidate->thread, __ATOMIC_RELAXED) != thread ||
			!take(candidate))
			continue;
		if (candidate->thread == thread)
			return candidate;
		tfs_step_candidate_leave(candidate);
	}
	return claim(thread);
}

uint64_t tfs_step_candidate_count(struct tfs_step_candidate *candidate)
{
	__atomic_store_n(&candidate->calls, candidate->calls + 1, __ATOMIC_RELAXED);
	if (candidate->calls % COUNTED != 0)
		return 0;
	candidate->latest = atomic_fetch_add(&calls_searched, COUNTED) + COUNTED;
	return candidate->latest;
}

uint64_t tfs_step_candidates_calls(void)
{
	uint64_t calls = calls_searched;

	for (uint32_t i = 0; i < CANDIDATES; i++)
		calls += __atomic_load_n(&candidates[i].calls, __ATOMIC_RELAXED) % COUNTED;
	return calls;
}

bool tfs_step_candidates_any_hope(const struct tfs_step_candidate *own)
{
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		if (&candidates[i] == own)
			continue;
		if (!take(&candidates[i]))
			return true;
		const bool hope = candidates[i].thread && candidates[i].loops &&
				  !tfs_loops_hopeless(candidates[i].loops);
		tfs_step_candidate_leave(&candidates[i]);
		if (hope)
			return true;
	}
	return false;
}

void tfs_step_candidates_release(const struct tfs_loops *kept)
{
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		struct tfs_step_candidate *candidate = &candidates[i];

		if (candidate->loops != kept && candidate->loops && take(candidate))
			munmap(candidate->loops, tfs_loops_bytes());
	}
}
