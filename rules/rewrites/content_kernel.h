/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_CONTENT_KERNEL_H
#define TFS_RULES_REWRITES_CONTENT_KERNEL_H

/*
 * The hash of content_hash.h, of device memory, computed where it lies. The kernel is text that
 * the driver compiles at its first use in a context; nothing is needed to build it. It goes on the
 * legacy stream by the driver's functions, which leave no error in the runtime, and takes 1/127 of
 * the memory that it hashes beside it, never where little is free.
 *
 * For one thread at a time, with the context of the memory current.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rewrites/content_hash.h"

/* The kernel as it is given to the driver, for tests; ended by NUL. */
extern const char tfs_content_kernel[];

/* Starts to hash `bytes` of memory, 8-byte aligned; the host does not wait. False when there is no
 * driver, no memory to spare, or a call failed: then nothing is under way. `context` is the current
 * one and `device` its number. */
bool tfs_content_start(void *context, uint32_t device, const void *memory, size_t bytes,
	const struct tfs_content_key *key);

/* Waits for what was started and gives its result; false when it failed. */
bool tfs_content_finish(struct tfs_content_hash *out_hash);

/* Copies device memory to the host and waits for it; for those who want to see the bytes. */
bool tfs_content_read(void *to, const void *from, size_t bytes);

/* Forgets what it holds in contexts of a device that was reset. */
void tfs_content_reset(uint32_t device);

#endif
