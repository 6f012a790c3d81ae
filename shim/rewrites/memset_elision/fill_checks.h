/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMSET_ELISION_FILL_CHECKS_H
#define TFS_SHIM_REWRITES_MEMSET_ELISION_FILL_CHECKS_H

/*
 * What memset-elision's contract asks of a fill, of what comes after it, and of the call that is to
 * make it needless. Preconditions only: nothing here holds a fill back or carries one out. Any
 * thread, inside a hook.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/record/op.h"
#include "shim/rewrites/fills.h"
#include "shim/rewrites/memory/held_fills.h"
#include "shim/trace/format/check.h"

struct tfs_function;
struct tfs_memory_functions;

/* Its named checks. */
enum tfs_fill_check {
	TFS_FILL_FINE = TFS_CHECK_none, /* nothing is against it */
	TFS_FILL_SIGHT = TFS_CHECK_all_calls_seen,
	TFS_FILL_CAPTURE = TFS_CHECK_not_capturing,
	TFS_FILL_MEMORY = TFS_CHECK_plain_device_memory,
	TFS_FILL_HOST = TFS_CHECK_no_host_access,
	TFS_FILL_DEVICE = TFS_CHECK_one_device,
	TFS_FILL_STREAM = TFS_CHECK_ordered_stream,
	TFS_FILL_ERROR = TFS_CHECK_no_error_waiting,
	TFS_FILL_ROOM = TFS_CHECK_room_to_follow,
	TFS_FILL_KERNEL = TFS_CHECK_no_kernel_between,
	TFS_FILL_COPY = TFS_CHECK_no_copy_between,
	TFS_FILL_EVENT = TFS_CHECK_no_event_between,
	TFS_FILL_WAIT = TFS_CHECK_no_wait_between,
	TFS_FILL_CALL = TFS_CHECK_no_other_call_between,
	TFS_FILL_THREAD = TFS_CHECK_same_thread,
	TFS_FILL_ELSEWHERE = TFS_CHECK_same_stream,
	TFS_FILL_READ = TFS_CHECK_not_read,
	TFS_FILL_WHOLE = TFS_CHECK_whole_range,
	TFS_FILL_BETA = TFS_CHECK_beta_zero_or_one,
	TFS_FILL_REPEATS = TFS_CHECK_same_bits_each_time,
	TFS_FILL_SIGN = TFS_CHECK_no_minus_zero,
	TFS_FILL_SCRATCH = TFS_CHECK_scratch_memory,
	TFS_FILL_EVIDENCE = TFS_CHECK_shadow_evidence,
};

/* Mutants: what the contract forbids. */
#define TFS_NAIVE_PAST_CALLS (1u << 23) /* holds fills back whatever else is called */
#define TFS_NAIVE_EACH (1u << 24)   /* gives every call on the range beta = 0, not only the first */
#define TFS_NAIVE_PADDED (1u << 25) /* takes what is written in part for the whole */
#define TFS_NAIVE_PROMISE (1u << 30) /* believes what libraries promise, whatever the tries say */

/* The stream as it is compared with others. */
void *tfs_fill_stream(void *stream);

/* May the fill be followed at all? Counts what is against it. */
bool tfs_fill_followable(
	const struct tfs_memory_functions *use, const struct tfs_op *op, uint32_t device);

/* Is the function (NULL: not known) only about the host? Else, by which check does it end what is
 * followed? */
bool tfs_fill_passes(const struct tfs_function *function);
enum tfs_fill_check tfs_fill_ended_by(const struct tfs_function *function);

/* What tells this kind of call behind this kind of fill from others. */
uint64_t tfs_fill_shape(const struct tfs_use_call *call, const struct tfs_held *held);

/* Calls of this kind at this place gave -0: for good. */
void tfs_fill_leave_alone(uint32_t site, uint64_t shape);

/* What the call means to all that is followed; `out` is the fill that it may make needless, NULL
 * if it is about none. The table is locked. */
enum tfs_fill_check tfs_fill_look(
	const struct tfs_use_call *call, struct tfs_held *all, struct tfs_held **out);

#endif
