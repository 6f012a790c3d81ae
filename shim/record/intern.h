/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_INTERN_H
#define TFS_SHIM_RECORD_INTERN_H

/*
 * Small ids for texts and stacks: fixed tables of 64-bit hashes, where a slot's number is the id.
 * Lock-free, for any thread; nothing is ever removed.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never 0. */
uint64_t tfs_intern_hash(const void *data, size_t bytes);

/* The id (from 1) of `hash` in a zeroed table; *out_fresh says that it was not there. 0 = full. */
uint32_t tfs_intern_claim(_Atomic uint64_t *table, uint32_t slots, uint64_t hash, bool *out_fresh);

#endif
