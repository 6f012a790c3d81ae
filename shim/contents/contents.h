/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CONTENTS_CONTENTS_H
#define TFS_SHIM_CONTENTS_CONTENTS_H

/*
 * What is copied to the device while a window is open: whether it is the same again, or could be
 * computed there. Up to TFS_CONTENTS_WHOLE bytes are read whole. Of more, places all over them are,
 * and all of them only where the places are the same as the last time or fit a pattern, of
 * these, for each destination in a window, the first TFS_CONTENTS_PROOFS and then each
 * TFS_CONTENTS_EVERYth. The kernel does the reading, so that memory that is not there is no fault.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_CONTENTS_WHOLE 4096u
#define TFS_CONTENTS_PROOFS 4u
#define TFS_CONTENTS_EVERY 8u
/* Longer ones are never read whole. */
#define TFS_CONTENTS_LONGEST (16u << 20)
/* In a window: uploads looked at, and bytes of those read whole. */
#define TFS_CONTENTS_UPLOADS 16384
#define TFS_CONTENTS_BYTES (64 << 20)
#define TFS_CONTENTS_KNOWN 128u

/* A thread's. Zeroed at first. */
struct tfs_contents {
	uint64_t piece[TFS_CONTENTS_WHOLE / 8];
	struct tfs_contents_known {
		uint64_t key;
		uint64_t sample;
		uint32_t window;
		uint32_t alike; /* uploads that were as the one before, or fit a pattern */
	} known[TFS_CONTENTS_KNOWN];
};

struct tfs_content {
	uint64_t whole; /* hashes; 0 = not read */
	uint64_t sample;
	uint32_t pattern; /* TFS_ATTRIBUTE_pattern */
};

/* A window opens: there is as much to be read again as a window may. */
void tfs_contents_open(void);

/* Whether there still is. */
bool tfs_contents_left(void);

/* Looks at what was copied from `source` to `target`; false = it was not read. The calling thread's
 * own `contents`; errno stays. */
bool tfs_contents_look(struct tfs_contents *contents, const void *target, const void *source,
	size_t bytes, struct tfs_content *out_content);

#endif
