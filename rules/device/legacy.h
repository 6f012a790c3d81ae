/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_LEGACY_H
#define TFS_RULES_DEVICE_LEGACY_H

/*
 * What the legacy stream's order costs: its work waits for that of all blocking streams of the
 * device, and they wait for it. Order that results need is not minded: two calls need it where they
 * share memory that one of them may write, and where it is not seen what one of them works on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

/* How a call of the legacy stream and other streams' work held each other up, though they share no
 * memory. */
struct tfs_legacy_hold {
	double before_ns; /* it waited for theirs */
	double behind_ns; /* and theirs for it */
	bool beside; /* kernels that leave each other room did, too: what that costs is not counted
		      */
	bool own;    /* a kernel of the program takes part: what it names may not be all it uses */
	bool opaque; /* work takes part of which nothing is known; it is not counted */
};

/* Whether a call's work is the legacy stream's. */
bool tfs_legacy_works(const struct tfs_timeline *timeline, const struct tfs_host_call *call);
/* Whether a call's work is that of a stream which the legacy one's order holds. */
bool tfs_legacy_held(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Whether a kernel has at most half as many blocks as its device multiprocessors. */
bool tfs_legacy_leaves_room(const struct tfs_timeline *timeline, const struct tfs_device_op *op);

/* Of a call whose work is the legacy stream's. */
struct tfs_legacy_hold tfs_legacy_hold_of(
	const struct tfs_steady *steady, const struct tfs_host_call *call);

/* Whether a call's work comes behind other streams' work of its step that it shares memory with,
 * and before some: then there is no time at which it is in nothing's way. */
bool tfs_legacy_chained(const struct tfs_steady *steady, uint32_t index);

/* Chains of work of a step that share no memory, where all of its work is the legacy stream's. */
struct tfs_legacy_chains {
	double saved_ns; /* at most, with a stream for each, by kernels that leave others room */
	uint32_t first;  /* call of one of them, or TFS_NONE */
	uint32_t opaque; /* a call of which it is not seen what it works on, or TFS_NONE */
	bool large; /* there are more calls than are looked at: it is that of all their kernels */
};

/* Of the nth of the judged steps; 0 or -ENOMEM. */
int tfs_legacy_chains_find(
	const struct tfs_steady *steady, uint32_t nth, struct tfs_legacy_chains *out_chains);

#endif
