/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_COPY_SKIP_COMPARE_H
#define TFS_RULES_REWRITES_COPY_SKIP_COMPARE_H

/*
 * How copy-skip compares the source of a copy, on the host, with what is at its destination: by a
 * hash of each, and where that is to be proven by the bytes themselves. One thread at a time may
 * use it, with the destination's context current and its work done.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rewrites/content_hash.h"
#include "rules/rewrites/pinned_staging_device.h"

/* Tests only, option `naive`: what the contract forbids. */
#define TFS_SKIP_NAIVE_SOURCE                                                                      \
	(UINT64_C(1) << 50) /* what was last copied there is taken to be there */
#define TFS_SKIP_NAIVE_EARLY (UINT64_C(1) << 51) /* does not wait before it reads the source */
#define TFS_SKIP_NAIVE_EQUAL (UINT64_C(1) << 52) /* all contents have the same hash */
#define TFS_SKIP_NAIVE_COST (UINT64_C(1) << 53)  /* leaves copies out whatever that costs */
#define TFS_SKIP_NAIVE_SLOW (UINT64_C(1) << 54)  /* and never, as if it cost too much */

/* Draws the key; at start. False without a source of random numbers. */
bool tfs_skip_draw(void);

/* May this thread compare now? Then it gives that back when it is done. */
bool tfs_skip_take(void);
void tfs_skip_give(void);

/* The hash of the destination; false when it cannot be had. */
bool tfs_skip_hash_target(const struct tfs_copy_call *call,
	const struct tfs_staging_context *context, struct tfs_content_hash *out_hash);

void tfs_skip_hash_source(const struct tfs_copy_call *call, struct tfs_content_hash *out_hash);

/* Both at the same time; false when the destination's cannot be had. */
bool tfs_skip_hash_both(const struct tfs_copy_call *call, const struct tfs_staging_context *context,
	struct tfs_content_hash *out_source, struct tfs_content_hash *out_target);

bool tfs_skip_is_equal(const struct tfs_copy_call *call, const struct tfs_content_hash *source,
	const struct tfs_content_hash *target);

/* Where bytes of the destination, read back, are not the source's; the copy's size when they are.
 * At most `most` blocks of 64 KiB are read, the first and the last among them. */
size_t tfs_skip_differs_at(const struct tfs_copy_call *call, size_t most);

#endif
