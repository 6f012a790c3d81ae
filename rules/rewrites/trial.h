/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_TRIAL_H
#define TFS_RULES_REWRITES_TRIAL_H

/*
 * One question put to the running program: are its steps faster with something on than with it
 * off? Blocks of steps alternate in a balanced order (off, on, on, off, on, off, off, on, ...), the
 * first steps of each block are left out, the rest count with their median. Pure: no clock, no
 * state but the caller's. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_TRIAL_MOST 24u      /* blocks */
#define TFS_TRIAL_BLOCK_MOST 8u /* steps of a block */
#define TFS_TRIAL_LEAST 4u      /* blocks of each kind below which there is no interval */
#define TFS_TRIAL_SHORTEST 5u   /* steps of a block */
/* With fewer, no interval; with these, two interruptions may come in between. */
#define TFS_TRIAL_STEPS ((2u * TFS_TRIAL_LEAST + 2u) * TFS_TRIAL_SHORTEST)

struct tfs_trial {
	uint32_t blocks;      /* as planned; even */
	uint32_t block_steps; /* as planned, with those left out */
	uint32_t most_steps;  /* used up, the trial is over, complete or not */
	uint32_t block;       /* the running one */
	uint32_t step;        /* steps of it that ended */
	uint32_t steps;       /* of all blocks, with those of blocks that were given up */
	uint32_t counts[2];   /* finished blocks: off, on */
	double times[TFS_TRIAL_BLOCK_MOST];
	double medians[2][TFS_TRIAL_MOST / 2];
};

/* Time won per step: the estimate and its 95 % interval; NaN where there is none. */
struct tfs_gain {
	double middle;
	double low;
	double high;
};

/* Plans as many blocks as `most_steps` allows; rather short ones than so few that an interruption
 * leaves too few. */
void tfs_trial_init(struct tfs_trial *trial, uint32_t most_steps);

/* Is the thing to be on in the running block? */
bool tfs_trial_on(const struct tfs_trial *trial);

/* A step ended that took `ns`. */
void tfs_trial_step(struct tfs_trial *trial, double ns);

/* The steps were interrupted: the running block starts anew. */
void tfs_trial_interrupt(struct tfs_trial *trial);

bool tfs_trial_over(const struct tfs_trial *trial);

/* False, and NaN, while there are too few blocks for an interval. */
bool tfs_trial_gain(const struct tfs_trial *trial, struct tfs_gain *out_gain);

/* The median of `count` values, which it sorts. */
double tfs_trial_median(double *values, uint32_t count);

#endif
