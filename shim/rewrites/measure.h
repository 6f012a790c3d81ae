/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_H
#define TFS_SHIM_REWRITES_MEASURE_H

/*
 * Rewrites that can be switched at any call prove themselves on the running program: outside
 * windows, blocks of steps run in pairs with and without (trial.h), one rewrite after the other.
 * One that is not the question is off, in both, until it has been shown to make steps faster, and
 * on from then. What is decided, or was begun, goes into a file by which the next run goes
 * (verdict.h). The question is put again when a step's time, or the bytes that it moves, change
 * clearly.
 *
 * The step's own thread, unless said otherwise.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/measure/trial.h"
#include "shim/trace/format/reason.h"

/* What is known of a rewrite; numbers are those of rewrite.c's list. */
struct tfs_measured {
	bool asked; /* else there is no outcome: nothing could be measured */
	enum tfs_outcome outcome;
	struct tfs_gain gain;
	struct tfs_reason reason;
};

/* Bit i: rewrite i may take part as far as this measurement goes. Any thread; relaxed. */
extern uint32_t tfs_measure_on;

/* Bit i: rewrite i was decided against, for as long as nobody asks again. Any thread; relaxed. */
extern uint32_t tfs_measure_against;

/* Without steps nothing can be measured; rewrite `i` is off by its own model. Any thread. */
void tfs_measure_give_up(uint32_t i);

/* Bit i of `switchable`: rewrite i is to be measured once it takes part. At start. */
void tfs_measure_start(uint32_t switchable);

/* A training step outside windows ended; `bytes`: what its thread's calls moved. */
void tfs_measure_step(uint64_t ns, uint64_t bytes);

/* The row of steps was broken: a window, an evaluation. Any thread. */
void tfs_measure_interrupt(void);

/* What is known of rewrite `i` by now. Any thread, one at a time. */
void tfs_measure_result(uint32_t i, struct tfs_measured *out_measured);

/* Writes what was found since the last time into the file. The helper thread, and at exit. */
void tfs_measure_keep(void);

#endif
