/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_COMMANDS_JOB_PROOF_H
#define TFS_REPORTS_COMMANDS_JOB_PROOF_H

/* What a job of several ranks proves about its rewrites, from the step times of its recordings. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/rewrites/measure/ranked.h"
#include "shim/rewrites/measure/verdicts_file.h"
#include "shim/trace/trace.h"

/* The latest run of one program. */
struct tfs_job {
	const char *program;
	uint32_t ranks;
	const struct tfs_trace **traces; /* by rank; NULL = missing */
	struct tfs_ranked plan;
	size_t steps;    /* that the plan speaks of */
	double *times;   /* of the slowest rank; NaN where a rank's is not known */
	uint32_t period; /* of the steps, as this run tells */
	struct tfs_proof verdicts[TFS_VERDICTS_MOST];
	uint32_t count; /* of these */
};

/* Finds `steps` and `times` (ns, the caller's to free) from a trace of every rank; false without
 * memory. */
bool tfs_job_find_times(struct tfs_job *job);

/* The period of the steps, from as many in a row as it takes; the plan's where there are fewer. */
uint32_t tfs_job_find_period(const struct tfs_job *job);

/* What the pairs of blocks of one question prove, on top of those that the verdict has already. */
void tfs_job_find_verdict(const struct tfs_job *job, uint32_t question, struct tfs_proof *verdict);

#endif
