/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_PROGRESS_H
#define TFS_TESTS_TRAINERS_PROGRESS_H

/*
 * What the trainers print: the mean loss of every 20 steps, the accuracy of every epoch, and the
 * time of a step. Times stand on lines of their own that start with "time:", so that all the
 * rest of the output can be compared between runs.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PROGRESS_STEPS = 20 };

struct progress {
	bool quiet;
	unsigned warmup; /* steps that are left out of the time */
	unsigned begun;
	unsigned steps; /* whose loss is known */
	unsigned timed; /* that lay between start and stop */
	uint64_t start_ns, spent_ns;
	float loss_sum; /* since the last line */
	unsigned loss_count;
	float loss, accuracy; /* the latest printed; accuracy below 0: there is none */
};

/* Training starts, or goes on after an evaluation. */
void progress_start(struct progress *progress);

/* Training stops after so many steps since the start; the device has done its work. */
void progress_stop(struct progress *progress, unsigned steps);

/* A step begins; the time counts from here on if the warm-up has just ended. */
void progress_step(struct progress *progress);

/* Adds the summed loss of some steps; prints a line when PROGRESS_STEPS are together. */
void progress_loss(struct progress *progress, float sum, unsigned steps);

/* An epoch, counted from 0, is over; accuracy is from 0 to 1. */
void progress_epoch(struct progress *progress, unsigned epoch, float accuracy);

/* Prints the result and the time of a step. */
void progress_end(const struct progress *progress);

#ifdef __cplusplus
}
#endif

#endif
