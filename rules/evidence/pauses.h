/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_PAUSES_H
#define TFS_RULES_EVIDENCE_PAUSES_H

/*
 * Stretches, far apart, in which a host thread gives the device nothing to compute: it copies
 * memory to the host, waits for that, and does with it whatever it does, until it goes on.
 */

#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"
#include "rules/support/intervals.h"

struct tfs_pause {
	uint32_t first;  /* copy; calls are the timeline's */
	uint32_t next;   /* call that gives the device other work, in the same window */
	uint32_t copies; /* in all, and of them those of the first one's call site and function */
	uint32_t alike;
	uint64_t bytes;
};

struct tfs_pauses {
	struct tfs_pause *items; /* by call site and function of the first copy, then by time */
	size_t count;
	size_t room;
	struct tfs_intervals busy; /* devices, with other work than copies to the host */
};

/* All recorded ones of a thread, in steps or between them, of copies that at most every eighth step
 * makes, of memory that no work outside of training steps is known to have written, and with the
 * next call recorded; 0 or -ENOMEM. */
int tfs_pauses_find(
	const struct tfs_steady *steady, uint32_t thread, struct tfs_pauses *out_pauses);
void tfs_pauses_finish(struct tfs_pauses *pauses);

/* How many of the items from `first` on begin at one call site with the same function. */
size_t tfs_pauses_alike(
	const struct tfs_steady *steady, const struct tfs_pauses *pauses, size_t first);

/* What the host takes from the first copy until it goes on while devices do nothing but copy to it,
 * less what it takes for the same calls where there is no pause. Of calls that are of pauses alone
 * all counts; where it is not known how long the host takes before it goes on, that does not. */
double tfs_pause_ns(const struct tfs_steady *steady, const struct tfs_pauses *pauses,
	const struct tfs_pause *pause);

/* For tfs_pauses_find(): fills `busy`; 0 or -ENOMEM. */
int tfs_pauses_find_busy(struct tfs_pauses *pauses, const struct tfs_steady *steady);

#endif
