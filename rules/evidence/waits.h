/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_WAITS_H
#define TFS_RULES_EVIDENCE_WAITS_H

/*
 * What the host waits for in each call, by what the call is (not by how long it took): explicit
 * synchronisation, copies that block, frees, results returned to the host.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/replay/replay.h"

struct tfs_steady;
struct tfs_timeline;
struct tfs_host_call;

struct tfs_waiting {
	enum tfs_wait wait;
	uint32_t
		stream; /* number (streams.h) of that the call works on or waits for, or TFS_NONE */
	uint32_t epoch; /* waits of one epoch drain the same work */
	bool drains;    /* when it returns, nothing is left for the device to do */
	bool hardly;    /* or hardly anything, beside what was waited for */
	bool pending;   /* there was something to wait for */
	bool orders;    /* nothing else has work of another stream come after what is awaited */
	uint8_t needed; /* TFS_GUARDS_*: what the host may do only behind it */
};

/* Whether a call releases NULL, which does nothing. */
bool tfs_frees_nothing(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Fills out_waits for all calls of `steady`; 0 or -ENOMEM. */
int tfs_waits_find(const struct tfs_steady *steady, struct tfs_waiting *out_waits);

#endif
