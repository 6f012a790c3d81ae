/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_GAPS_H
#define TFS_RULES_EVIDENCE_GAPS_H

/*
 * What host threads did while a device was idle, until one of them launched the work that ended it:
 * whether they waited, were in calls, or in their own code. Only threads that give the device work
 * are looked at: others poll or load.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

struct tfs_gap {
	uint32_t idle;   /* of the timeline */
	uint32_t launch; /* the call whose work ended it; calls are the timeline's */
	uint32_t before; /* the host's longest stretch without a call was behind this one; TFS_NONE
			  */
	uint32_t after;  /* and before this one */
	double idle_ns;
	double host_ns;    /* that stretch, as far as the device was idle */
	double stretch_ns; /* all of it */
	bool waited;       /* a call that waits for the device lasted into it */
};

struct tfs_gaps {
	struct tfs_gap *items; /* by device and time */
	size_t count;
};

/* Of the judged steps; 0 or -ENOMEM. */
int tfs_gaps_find(const struct tfs_steady *steady, struct tfs_gaps *out_gaps);
void tfs_gaps_finish(struct tfs_gaps *gaps);

/* How long calls of a judged step hold one of the host's threads: those that wait, or do something
 * long. */
double tfs_gaps_waits_ns(const struct tfs_steady *steady, uint32_t thread);

/* By this the devices' idle time is divided: the judged steps of all that worked. */
double tfs_gaps_steps(const struct tfs_steady *steady);

/* Between two launches a program does no more of its own than this. */
double tfs_gaps_launching_ns(const struct tfs_steady *steady);

/* Whether a gap is mostly one stretch of the host's own code, longer than that. */
bool tfs_gap_own_code(const struct tfs_steady *steady, const struct tfs_gap *gap);

#endif
