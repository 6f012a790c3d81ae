/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_SORT_H
#define TFS_RULES_SUPPORT_SORT_H

/*
 * Sorting millions of indices by a 64-bit key: stable, and quick where the keys are sorted already
 * or differ in few bytes.
 */

#include <stddef.h>
#include <stdint.h>

struct tfs_key {
	uint64_t key;
	uint32_t value;
};

/* Sorts by key, equal keys in the order given; 0 or -ENOMEM. */
int tfs_sort_keys(struct tfs_key *keys, size_t count);

#endif
