/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PAIRS_WORKER_H
#define TFS_TESTS_PAIRS_WORKER_H

/* A thread that does what another one asks for, which waits meanwhile: as autograd's does. */

struct worker;

/* Ends the program when there is no thread. */
struct worker *worker_create(void);
/* NULL is none. */
void worker_destroy(struct worker *worker);

/* Both threads' clocks show that waking up takes its time, whatever it takes here. */
void worker_do(struct worker *worker, void (*job)(void *argument), void *argument);

#endif
