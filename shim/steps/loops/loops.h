/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_LOOPS_LOOPS_H
#define TFS_SHIM_STEPS_LOOPS_LOOPS_H

/*
 * Finds the training step in a sequence of calls: the loop that carries the weights. Pure: no
 * clock, no I/O, the same result in the traced process and after the run.
 *
 * The calls are logged, and the log is looked through from time to time, ever less often. The
 * step is the loop across whose iterations a memory range is carried that one call site updates
 * in place and another call site then reads: the weights. A loop over layers may carry such a
 * range too, but each of its iterations touches other ranges than the one before; a loop over
 * micro-batches may, where what kernels do with their pointers is not known, but it goes round
 * more often than the loop around it that carries more. A loop over epochs goes round too rarely.
 *
 * The step opens at the first place that control comes by once in each iteration.
 *
 * Where that is an unrolled loop, with the same done again between several updates of the weights,
 * each of these is a step. A recursion is a loop as well: a stack counts as if it went through each
 * of its functions once.
 */

#include <stdbool.h>
#include <stdint.h>

#define TFS_LOOPS_CONFIRM 8u /* iterations that must carry the range */
#define TFS_LOOPS_DEPTH 16u  /* outermost frames that are looked at */
#define TFS_LOOPS_FRAMES 64u /* innermost ones that are known of a stack */
#define TFS_LOOPS_PLACES 96u /* of the step that are told from others */

struct tfs_graphs;
struct tfs_loops;

struct tfs_loops_operand {
	uint64_t address;
	bool reads;
	bool writes;
	bool maybe; /* may do either, or both; then both are set */
};

/* Bytes of memory that tfs_loops_init() needs; those at the end are used by long searches only. */
uint64_t tfs_loops_bytes(void);

/* Of these, the first ones that are needed once the step was found. */
uint64_t tfs_loops_kept_bytes(void);

/* Makes a search in memory that the caller owns. */
struct tfs_loops *tfs_loops_init(void *memory);

/* Forgets all calls, but for whether there was hope. */
void tfs_loops_restart(struct tfs_loops *loops);

/*
 * One call, in program order of one thread. `frames` are return addresses, innermost first.
 * Returns true when the step was just found; from then on nothing more need be fed.
 */
bool tfs_loops_feed(struct tfs_loops *loops, uint32_t site, const uint64_t *frames, uint32_t count,
	const struct tfs_loops_operand *operands, uint32_t operand_count);

/* What a graph does that the call just fed launches, as if each of it came from there; then
 * tfs_loops_look() says whether the step was just found. Returns how much that was. */
uint32_t tfs_loops_launched(struct tfs_loops *loops, uint32_t site, const uint64_t *frames,
	uint32_t count, const struct tfs_graphs *graphs, uint64_t executable);
bool tfs_loops_look(struct tfs_loops *loops);

/* Where no step was found: takes the iterations of the loop that most of the logged calls are in,
 * the outermost that went round often enough, for steps. They may be no training; what is found
 * later beside them is to be preferred. False where there is no such loop. */
bool tfs_loops_dominate(struct tfs_loops *loops);

/* Are the found steps such iterations? */
bool tfs_loops_dominant(const struct tfs_loops *loops);

/* The found step: iterations of its loop that were begun until it was found. */
uint64_t tfs_loops_before(const struct tfs_loops *loops);

/* The found step: what carries its weights may be no update at all, as with the activations of an
 * evaluation whose kernels are not known. Then another loop may yet turn out to be the step. */
bool tfs_loops_doubtful(const struct tfs_loops *loops);

/* Two found steps, one of them doubtful: is the other to be preferred? It is known to be one, or
 * its loop is longer: a training step is longer than an evaluation's. */
bool tfs_loops_prefers(const struct tfs_loops *doubtful, const struct tfs_loops *other);

/* Calls in the log, with those of graphs. */
uint32_t tfs_loops_logged(const struct tfs_loops *loops);

/* Was there nothing yet that could be a weight: no range that is updated in place, nor one before
 * the log began anew? */
bool tfs_loops_hopeless(const struct tfs_loops *loops);

/* The found step: does a call from `frames` open it? (Only if the call before it did not come from
 * the same place in the loop.) */
bool tfs_loops_opens(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count);

/* Has a call from `frames` left the function that holds the step's loop, or the addresses that the
 * loop spans? */
bool tfs_loops_outside(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count);

/* Is it within the loop's span, at a place that most of the logged iterations did not have? It may
 * be a rare branch of the step, or code that the compiler put there, such as an evaluation. */
bool tfs_loops_unknown(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count);

/* May it open at several places? Else all calls that open it come from the same one. */
bool tfs_loops_unrolled(const struct tfs_loops *loops);

/* Do both stacks stand at the same place in the step's loop? */
bool tfs_loops_same_place(const struct tfs_loops *loops, const uint64_t *one, uint32_t one_count,
	const uint64_t *other, uint32_t other_count);

#endif
