/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_CONTENT_HASH_H
#define TFS_RULES_REWRITES_CONTENT_HASH_H

/*
 * A hash by which memory of the host and of the device are compared without moving either: the
 * device computes the same one (content_kernel.h).
 *
 * It is NH with the Toeplitz extension (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, CRYPTO
 * '99, section 4), over 32-bit halves. Of a block of 64-bit words m and key words k, sum t of four
 * is, all additions wrapping,
 *
 *	sum over i of (low(m[i]) + low(k[i + t])) * (high(m[i]) + high(k[i + t]))
 *
 * with additions in 32 bits and the product in 64. The sums of all blocks, in their order, are what
 * the next level hashes with a key of its own, until one block is left, whose sums are the result.
 *
 * Two different contents of the same length, whatever they are, give the same sums with a
 * probability of at most 2^-128 in each level, so of TFS_CONTENT_LEVELS * 2^-128 in all, over a key
 * that is drawn at random and that they do not depend on. Contents of different lengths must not
 * be compared.
 */

#include <stddef.h>
#include <stdint.h>

#define TFS_CONTENT_LEVELS 4u
#define TFS_CONTENT_BLOCK 4096u /* bytes */
#define TFS_CONTENT_SUMS 4u
#define TFS_CONTENT_MOST (UINT64_C(8) << 30) /* that so many levels bring down to one block */

struct tfs_content_key {
	uint64_t words[TFS_CONTENT_LEVELS][TFS_CONTENT_BLOCK / 8 + TFS_CONTENT_SUMS - 1];
};

struct tfs_content_hash {
	uint64_t sums[TFS_CONTENT_SUMS];
};

/* What hashing needs beside the stack, which may be a small one. Any contents. */
struct tfs_content_work {
	struct {
		uint64_t words[TFS_CONTENT_BLOCK / 8]; /* sums that make up a block of this level */
		uint32_t count;
	} levels[TFS_CONTENT_LEVELS];
};

/* The sums of one block of at most TFS_CONTENT_BLOCK bytes, at any address. Bytes that are missing
 * in the last word count as zero. */
void tfs_content_block(
	const void *block, size_t bytes, const uint64_t *key, struct tfs_content_hash *out_hash);

/* Of 1 to TFS_CONTENT_MOST bytes. Each is read once, so that what another thread writes meanwhile
 * counts as it was at one moment. */
void tfs_content_hash(const void *memory, size_t bytes, const struct tfs_content_key *key,
	struct tfs_content_work *work, struct tfs_content_hash *out_hash);

#endif
