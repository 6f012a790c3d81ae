/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CONTENTS_PATTERN_H
#define TFS_SHIM_CONTENTS_PATTERN_H

/*
 * What can be told of bytes that are looked at piece by piece, whole or in part: a hash, and
 * whether they could as well be computed: one value again and again, or integers at equal
 * distances. Pure.
 */

#include <stddef.h>
#include <stdint.h>

struct tfs_pattern {
	uint64_t hash;
	uint64_t words[2]; /* the first ones */
	uint32_t fits;     /* a bit for each kind that all bytes so far are of */
};

/* Begins with the first 16 bytes, which may be fewer. */
void tfs_pattern_start(struct tfs_pattern *pattern, const void *bytes, size_t count);

/* Takes the bytes at `offset`, a multiple of 8, as is `count` but at the end. */
void tfs_pattern_add(struct tfs_pattern *pattern, uint64_t offset, const void *bytes, size_t count);

/* The value of TFS_ATTRIBUTE_pattern for what was taken, of so many bytes; 0 = none, or there are
 * too few to tell. */
uint32_t tfs_pattern_kind(const struct tfs_pattern *pattern, uint64_t bytes);

#endif
