/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_WORK_H
#define TFS_SHIM_REWRITES_COMMON_WORK_H

/*
 * What the program has submitted and, as far as was seen, not yet waited for, stream by stream.
 * A call is noted after it was made and before it returns to the program: so a thread that the
 * program has told of another's work finds it here. What is noted as unfinished may be finished;
 * never the other way round. Any thread, no lock.
 *
 * Work is quiet when all that it may touch was named by its call and is plain device memory: a
 * fill, a copy within the device, a product of matrices, a convolution. All other work is such as
 * the host might see: copies from and to the host, host functions, graphs, and every kernel of the
 * program's own, whatever its arguments, since it may have got an address in other ways.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_details;
struct tfs_function;

/* Mutants: what the contract forbids. */
#define TFS_NAIVE_BLIND (UINT64_C(1) << 40)     /* no work is such as the host might see */
#define TFS_NAIVE_ARGUMENTS (UINT64_C(1) << 41) /* a kernel touches what its arguments say */

/* Notes a call. True when it is one by which others may come to see the device's memory, or what
 * is submitted, in ways that cannot be followed. */
bool tfs_work_note(const struct tfs_function *function, const struct tfs_details *details);

/* All that was noted so far has a number no greater than this. */
uint64_t tfs_work_now(void);

/* What has a number up to `before` is finished: all of it, or that of one stream. */
void tfs_work_finished(uint64_t before);
void tfs_work_finished_on(uint16_t stream, uint64_t before);

/* Is anything unfinished, on any stream or on one? */
bool tfs_work_any(void);
bool tfs_work_on(uint16_t stream);

/* Has the calling thread submitted all there is? */
bool tfs_work_is_own(void);

#define TFS_WORK_STREAMS 8u

/* Unfinished work, by stream. */
struct tfs_work {
	uint32_t visible; /* streams with work that the host might see, of which the first: */
	uint16_t streams[TFS_WORK_STREAMS];
	uint32_t quiet; /* streams with quiet work only */
	bool unknown;   /* there is work of which the stream is not known */
};
void tfs_work_look(struct tfs_work *out);

#endif
