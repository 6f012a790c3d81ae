/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_PAUSES_H
#define TFS_RULES_EVIDENCE_PAUSES_H

/*
 * Stretches in which the thread that makes the steps gives the device nothing to compute: it copies
 * memory to the host, waits for that, and does with it whatever it does, until it goes on. They lie
 * between steps, or in at most every eighth one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"
#include "rules/support/intervals.h"

struct tfs_pause {
	uint32_t first; /* copy; calls are the timeline's */
	uint32_t last;  /* that waits for a copy */
	uint32_t next;  /* call that gives the device other work, in the same window */
	uint32_t copies;
	uint64_t bytes;
	bool doubtful; /* they may be of what was computed in the pause, or what follows needs them
			*/
};

/* Calls of one function at one call site, where windows have the device's activity. */
struct tfs_pause_site {
	uint32_t calls; /* recorded, of all threads */
	uint32_t told;  /* of these, in pauses, or known to be in none */
	uint32_t down;  /* of these, copies to the host */
	uint32_t steps; /* that have some */
	uint32_t latest_step;
	/* In judged steps, outside of pauses. */
	uint32_t usual;
	double in_ns, before_ns; /* sums: in the calls, and since the calls before them */
};

struct tfs_pauses {
	struct tfs_pause *items; /* by call site and function of the first copy, then by time */
	size_t count;
	size_t room;
	struct tfs_pause_site *sites; /* for each of the trace's totals */
	struct tfs_intervals busy;    /* devices, with other work than copies to the host */
	uint32_t steps;               /* training steps in such windows */
};

/* All recorded ones of a thread; 0 or -ENOMEM. */
int tfs_pauses_find(
	const struct tfs_steady *steady, uint32_t thread, struct tfs_pauses *out_pauses);
void tfs_pauses_finish(struct tfs_pauses *pauses);

/* How many of the items from `first` on begin at one call site with the same function. */
size_t tfs_pauses_alike(
	const struct tfs_steady *steady, const struct tfs_pauses *pauses, size_t first);

/* What a call is counted with; NULL = the trace has no total for it. */
struct tfs_pause_site *tfs_pauses_site(
	const struct tfs_timeline *timeline, const struct tfs_pauses *pauses, uint32_t call);

/* What the host takes while devices do nothing but copy to it, less what it takes for the same
 * calls where there is no pause: up to the last wait, and from there until it goes on. */
void tfs_pause_ns(const struct tfs_steady *steady, const struct tfs_pauses *pauses,
	const struct tfs_pause *pause, double *out_waits_ns, double *out_rest_ns);

/* For tfs_pauses_find(): fills `busy`, and what is usual at the sites, of calls that are not
 * `inside` a pause; 0 or -ENOMEM. */
int tfs_pauses_measure(struct tfs_pauses *pauses, const struct tfs_steady *steady, uint32_t thread,
	const bool *inside);

#endif
