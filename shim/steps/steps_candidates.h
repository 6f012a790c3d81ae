/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_STEPS_CANDIDATES_H
#define TFS_SHIM_STEPS_STEPS_CANDIDATES_H

/*
 * Within the steps: the threads whose calls are searched for a loop, a few at a time. A place is
 * taken while it is used: by its thread, or by whoever takes it over. All of it keeps errno.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tfs_loops;
struct tfs_thread;

struct tfs_step_candidate {
	struct tfs_thread *thread;
	struct tfs_loops *loops; /* NULL: no memory */
	uint64_t calls;          /* that were searched */
	uint64_t latest;         /* calls of all threads, at its own latest */
	_Atomic bool busy;       /* taken; in the end for ever */
};

/* A log for a search, in pages of its own; NULL without memory. Released with munmap(). */
struct tfs_loops *tfs_step_candidates_make_loops(void);

/* Prepares the first place; false without memory. Once, before any call. */
bool tfs_step_candidates_start(void);
bool tfs_step_candidates_ready(void);

/* The calling thread's place, taken; NULL where there is none for it. */
struct tfs_step_candidate *tfs_step_candidate_of(struct tfs_thread *thread);
void tfs_step_candidate_leave(struct tfs_step_candidate *candidate);

/* Counts a call of a place that is taken. Now and then this returns the calls of all threads, and
 * 0 in between. */
uint64_t tfs_step_candidate_count(struct tfs_step_candidate *candidate);

/* The calls of all threads that were searched. Any thread. */
uint64_t tfs_step_candidates_calls(void);

/* Might a step still be found in what others than the thread of `own`, a place that is taken,
 * logged? What is just in use may hold one. Any thread. */
bool tfs_step_candidates_any_hope(const struct tfs_step_candidate *own);

/* Unmaps all logs but `kept`. Of a place that is just taken, its thread does this itself. */
void tfs_step_candidates_release(const struct tfs_loops *kept);

#endif
