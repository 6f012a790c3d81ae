/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_FILLS_H
#define TFS_SHIM_REWRITES_FILLS_H

/*
 * Fills with zeros that are followed to their first use, and what hooks tell of the calls on the
 * way. A followed fill was either carried out, or is held back. While there is one, TFS_WANT_FILLS
 * is set, and every call through a hook ends it, by which one that was held back is carried out:
 * save for calls of hooks that enter by TFS_ENTER_TELLING and say what memory they work on, all of
 * it, before they are made. See memset_elision.c.
 */

#include <stdbool.h>
#include <stdint.h>

/* A call whose work touches no memory but this, on one stream. */
#define TFS_USE_READS 6u
struct tfs_use_call {
	struct {
		const void *address;
		uint64_t bytes;
	} reads[TFS_USE_READS]; /* workspaces too */
	uint32_t read_count;
	bool unknown; /* not all of it could be found out */
	void *output; /* NULL: none */
	uint64_t output_bytes;
	bool dense;             /* it writes each of those bytes */
	bool repeats;           /* the same input gives the same bits each time */
	bool scaled;            /* it has a beta; the two scalars are the host's */
	uint32_t element_bytes; /* of the output */
	double alpha;
	double beta;
	void *stream;
	uint64_t shape; /* whatever else what is written may depend on, but numbers: hashed */
	uint32_t site;
};

/* What the rewrite needs from before the call to after it; lives in the hook. */
struct tfs_use {
	int doing;
	const void *beta; /* the program's */
	void *output;
	void *scratch;
	uint32_t entry;
	uint32_t fill_site;
	uint64_t fill_bytes;
	uint64_t bytes;
	uint64_t shape;
	uint32_t element_bytes;
};

static inline void tfs_use_reads(struct tfs_use_call *call, const void *address, uint64_t bytes)
{
	if (bytes == 0)
		return;
	if (call->read_count == TFS_USE_READS) {
		call->unknown = true;
		return;
	}
	call->reads[call->read_count].address = address;
	call->reads[call->read_count++].bytes = bytes;
}

/* Something else that tells one kind of call from another. */
static inline void tfs_use_shape(struct tfs_use_call *call, uint64_t part)
{
	call->shape = (call->shape ^ part) * UINT64_C(0x9E3779B97F4A7C15);
	call->shape ^= call->shape >> 32;
}

#endif
