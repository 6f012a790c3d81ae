/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_TRIAL_H
#define TFS_SHIM_REWRITES_MEASURE_TRIAL_H

/*
 * One question put to the running program: are its steps faster with something on than with it
 * off? Blocks of steps come in pairs, one with and one without, in an order that a coin draws; a
 * block is whole periods of the step (period.h), so that both hold the same steps. The first steps
 * after each switch are left out, a step counts with three times its block's median at most. By
 * 8, 16, 32 and 64 pairs it is looked whether chance alone (sign_flip.h) explains the difference,
 * and at no other time. Pure: no clock, no state but the caller's. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/measure/period.h"
#include "shim/rewrites/measure/sign_flip.h"

#define TFS_TRIAL_PAIRS 64u
#define TFS_TRIAL_FIRST_LOOK 8u /* pairs */
#define TFS_TRIAL_BLOCK 8u      /* steps that count, at least */
#define TFS_TRIAL_STEPS 4000u   /* of one question, in one run */
#define TFS_TRIAL_LEVEL 0.005   /* on each side, at each look */
#define TFS_TRIAL_CAP 3.0       /* times the median */

enum tfs_outcome {
	TFS_OUTCOME_UNDECIDED,
	TFS_OUTCOME_FASTER,
	TFS_OUTCOME_SLOWER,
	TFS_OUTCOME_NO_DIFFERENCE, /* that 64 pairs would show */
	TFS_OUTCOME_COUNT
};

/* What the blocks are, by the step's period. */
struct tfs_blocks_plan {
	uint32_t left_out;
	uint32_t counted;
};

struct tfs_trial {
	struct tfs_blocks_plan plan;
	uint32_t most_steps; /* used up, the trial is over */
	uint32_t steps;      /* used, with those of blocks that were given up */
	uint32_t seed;       /* of the coin */
	uint32_t second;     /* 1: the pair's second block is running */
	uint32_t step;       /* steps of the running block that ended */
	uint32_t pairs;      /* finished */
	enum tfs_outcome outcome;
	double times[TFS_PERIOD_MOST];
	double sums[2];                /* of the running pair: off, on */
	double gains[TFS_TRIAL_PAIRS]; /* of each pair, per step */
};

/* How many more steps would decide a question that is undecided, if those to come vary like those
 * so far; 0 = decided, or too few pairs to tell. */
uint32_t tfs_trial_more_steps(const struct tfs_trial *trial);

/* Time won per step: the estimate and its 99 % interval; NaN where there is none. */
struct tfs_gain {
	double middle;
	double low;
	double high;
};

struct tfs_blocks_plan tfs_trial_plan(uint32_t period);

/* The coin: does the pair begin with the thing on? `seed` is one for each question, the same in all
 * processes that work together. */
bool tfs_trial_on_first(uint32_t seed, uint32_t pair);
uint32_t tfs_trial_seed(const char *name);

void tfs_trial_init(
	struct tfs_trial *trial, const char *name, uint32_t period, uint32_t most_steps);

/* Goes on where an earlier run stopped. */
void tfs_trial_resume(struct tfs_trial *trial, const double *gains, uint32_t pairs);

/* Is the thing to be on in the running block? */
bool tfs_trial_on(const struct tfs_trial *trial);

/* A step ended that took `ns`. */
void tfs_trial_step(struct tfs_trial *trial, double ns, struct tfs_sign_flip *room);

/* What a block's steps took, those counted; sorts them. */
double tfs_trial_sum(double *times, uint32_t count);

/* A pair's gain per step is known. */
void tfs_trial_pair(struct tfs_trial *trial, double gain, struct tfs_sign_flip *room);

/* The steps were interrupted: the running block starts anew. */
void tfs_trial_interrupt(struct tfs_trial *trial);

/* Decided, or out of steps. */
bool tfs_trial_over(const struct tfs_trial *trial);

/* NaN while there are too few pairs for an interval. */
struct tfs_gain tfs_trial_gain(const struct tfs_trial *trial, struct tfs_sign_flip *room);

/* The median of `count` values, which it sorts. */
double tfs_trial_median(double *values, uint32_t count);

/* Do two figures, both of them known, differ by more than the factor? */
bool tfs_trial_differ(double one, double other, double factor);

#endif
