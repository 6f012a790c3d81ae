/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_HELD_FILLS_H
#define TFS_SHIM_REWRITES_MEMORY_HELD_FILLS_H

/*
 * The fills with zeros that are being followed (fills.h), of all threads. While a thread carries
 * out what was held back, others that come here wait for it: what they do next must come after.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_HELD_MOST 128u

enum tfs_held_state {
	TFS_HELD_NONE,
	TFS_HELD_DONE,  /* carried out, followed only to learn from it */
	TFS_HELD_BACK,  /* held back */
	TFS_HELD_TAKEN, /* held back, and the call that makes it needless is being made */
	TFS_HELD_LATE   /* was taken, but somebody else's call came in between: carried out */
};

struct tfs_held {
	enum tfs_held_state state;
	uint32_t device;
	uint32_t site;
	uint64_t address;
	uint64_t bytes;
	void *stream;
	const void *thread; /* whose it is */
};

/* What tells the calling thread from others. */
const void *tfs_held_self(void);

/* Locks the table of TFS_HELD_MOST, for a few instructions; nothing of CUDA may be called. */
struct tfs_held *tfs_held_open(void);
void tfs_held_close(void);

/* Starts to follow a fill; false when there is no room, or it overlaps another. */
bool tfs_held_add(const struct tfs_held *fill);

/* Ends the following of all, telling of each, and carries out what was held back. */
void tfs_held_settle(void (*tell)(const struct tfs_held *fill, uint32_t reason), uint32_t reason);

/* Carries one out, in the device's context; the caller sees to its state. */
void tfs_held_carry_out(const struct tfs_held *fill);

/* Are zeros held back from some of these bytes, so that what they are now is not to be looked at?
 */
bool tfs_held_back(const void *address, uint64_t bytes);

/* The calling thread's device. */
uint32_t tfs_held_device(void);

#endif
