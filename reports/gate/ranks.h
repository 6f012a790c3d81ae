/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_RANKS_H
#define TFS_REPORTS_GATE_RANKS_H

/*
 * Is there a recording of every process of a job? Of one that left none nothing is known, and so
 * nothing has passed.
 */

#include "reports/model/model.h"

struct tfs_rank_seen {
	uint64_t run; /* of `tfshim run`; 0 = none */
	uint32_t rank;
	uint32_t processes;        /* of its job */
	uint64_t start_ns, end_ns; /* UINT64_MAX = not known */
};

/* Zeroed = none. */
struct tfs_ranks {
	struct tfs_rank_seen *seen;
	size_t count;
};

struct tfs_ranks_missing {
	uint32_t processes;   /* of the job */
	uint32_t rank;        /* one that is missing */
	uint32_t present;     /* how many are not, */
	uint32_t first, last; /* and of these */
};

void tfs_ranks_add(struct tfs_ranks *ranks, const struct tfs_model *model);

/* The next job, from `*cursor` on, of which a rank is missing; false when there is none. What ended
 * before another process of its job began is of an earlier one. */
bool tfs_ranks_next_missing(
	const struct tfs_ranks *ranks, size_t *cursor, struct tfs_ranks_missing *out_missing);

/* Whether those that are there may be all of one machine, of several that are alike. */
bool tfs_ranks_are_a_share(const struct tfs_ranks_missing *missing);

void tfs_ranks_finish(struct tfs_ranks *ranks);

#endif
