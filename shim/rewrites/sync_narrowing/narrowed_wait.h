/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_SYNC_NARROWING_NARROWED_WAIT_H
#define TFS_SHIM_REWRITES_SYNC_NARROWING_NARROWED_WAIT_H

/*
 * How sync-narrowing waits for some streams in the place of all, what stands in for the order
 * between streams that a wait for the device gives, and what is owed to those who ask later how far
 * the rest is. Any thread, inside a hook; calls of the library are made, with hooks off.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_memory_functions;
struct tfs_work;

/* Mutants: what the contract forbids. */
#define TFS_NAIVE_NO_FENCE (UINT64_C(1) << 42) /* the order between streams is lost */
#define TFS_NAIVE_ANSWERS (UINT64_C(1) << 45)  /* lets queries tell what is left out */

/* Do all streams that there ever were keep to the legacy stream's order? */
bool tfs_narrowed_in_order(void);

/* The program is about to destroy a stream: from here on none is named any more. */
void tfs_narrowed_end_stream(void);

/* Waits for the streams with work that the host might see; false: not for all of it. */
bool tfs_narrowed_wait(const struct tfs_memory_functions *use, const struct tfs_work *work);

/* Gets the memory that the fence needs, once; only beside a wait for the device, since to get it
 * may wait as well. */
void tfs_narrowed_get_fence(const struct tfs_memory_functions *use);

/* Has all later work wait for all earlier; false: it could not. */
bool tfs_narrowed_put_fence(const struct tfs_memory_functions *use);

/* A wait has left out some of what has a number (work.h) up to `number`; all up to it was waited
 * for. */
void tfs_narrowed_owe(uint64_t number);
void tfs_narrowed_paid(uint64_t number);

/* Makes true what narrowed waits have promised. */
void tfs_narrowed_pay(const struct tfs_memory_functions *use);

/* The device was reset: events and the fence are gone. */
void tfs_narrowed_reset(void);

#endif
