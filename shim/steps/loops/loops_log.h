/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_LOOPS_LOOPS_LOG_H
#define TFS_SHIM_STEPS_LOOPS_LOOPS_LOG_H

/*
 * Within the step search: the log of calls that it looks through, and what it found there. All of
 * it lies in memory that the search's owner gave, which is touched only as far as it is needed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/steps/loops/loops.h"

#define TFS_LOG_CALLS (1u << 18)
#define TFS_LOG_OPERANDS (1u << 20)
#define TFS_LOG_SITES (1u << 13)
#define TFS_LOG_RANGES (1u << 16)
#define TFS_LOG_PAIRS (1u << 16)
#define TFS_LOG_PATH 1024u
#define TFS_LOG_UNROLLED 15u

#define TFS_LOG_LONGER 1.5 /* times as many calls in an iteration make a loop a longer one */

/* A call site: the outermost frames of its stack, outermost first. In a recursion there is one for
 * each depth, and all are as one, whose stack goes through it once. */
struct tfs_log_site {
	uint32_t id;
	uint32_t depth;
	uint32_t frame_count; /* of the stack as it was given, */
	uint32_t same;        /* if that goes through a recursion: 1 + index of the one for all */
	uint64_t outermost;   /* and its frame */
	uint64_t latest[2];   /* operands, of a call with two */
	uint64_t frames[TFS_LOOPS_DEPTH];
};

struct tfs_log_call {
	uint32_t site;  /* index */
	uint32_t first; /* operand; the next call's first ends them */
};

/* Of an operand, beside its address. */
#define TFS_LOG_READS UINT64_C(1)
#define TFS_LOG_WRITES UINT64_C(2)
#define TFS_LOG_MAYBE UINT64_C(4)
#define TFS_LOG_ADDRESS(operand) ((operand) >> 3)

static inline uint64_t tfs_log_operand(const struct tfs_loops_operand *operand)
{
	return operand->address << 3 | (operand->reads ? TFS_LOG_READS : 0) |
	       (operand->writes ? TFS_LOG_WRITES : 0) | (operand->maybe ? TFS_LOG_MAYBE : 0);
}

struct tfs_log_range {
	uint64_t address;
	uint64_t same;  /* what takes turns with it; 0 = it stands for itself */
	uint32_t pairs; /* who updates it in place, or may: first of the list, 1 + index */
	uint32_t round; /* the latest that touched it */
};

/* A range and a site that updates it. Times are 1 + index of a call. */
struct tfs_log_pair {
	uint64_t address;
	uint32_t site;
	uint32_t next; /* of the range's list, 1 + index */
	uint32_t first, last;
	uint32_t count;       /* updates */
	uint32_t overwritten; /* those after which other contents came */
	uint32_t carried;     /* those that another site read after some loop had gone round */
	uint32_t at[TFS_LOOPS_DEPTH]; /* of these, by the level of the loop's function */
	bool certain;                 /* all are known to be updates */
	bool waiting;                 /* for a site that reads the latest */
	bool unfed;                   /* they learn nothing: see tfs_log_is_fed() */
};

/* The places in an active function that control came by, without the bodies of the loops that went
 * round: where it comes by one of them again, a loop goes round. */
struct tfs_log_path {
	uint32_t count;
	uint64_t places[TFS_LOG_PATH];
};

/* The loop that is the step. */
struct tfs_log_step {
	uint32_t level;
	uint32_t member_count;
	uint64_t anchor; /* the place that opens it, */
	uint32_t again_count;
	uint64_t again[TFS_LOG_UNROLLED]; /* and where it does so again in an unrolled loop */
	uint64_t lowest;
	uint64_t highest;
	uint64_t before;
	double calls;  /* of an iteration */
	bool certain;  /* what carries the weights is known to be an update */
	bool dominant; /* nothing carries weights: it is only the loop with most calls */
	uint64_t prefix[TFS_LOOPS_DEPTH];
	uint64_t members[TFS_LOOPS_PLACES];
};

/* A stack, outermost first, in which every recursion is gone through once. */
struct tfs_log_stack {
	uint32_t count;
	uint64_t frames[TFS_LOOPS_FRAMES];
};

struct tfs_loops {
	bool found;
	bool updates;         /* some call may have updated something in place, or by turns */
	bool updated;         /* so it was before the log began anew */
	bool turned;          /* some call may have gone from here to there, and later back */
	uint64_t moved[1024]; /* bits of what calls read here and write there */
	struct tfs_log_step step;
	uint32_t call_count, operand_count, site_count;
	uint32_t next_look;                /* so many calls must be there for it */
	uint32_t slots[2 * TFS_LOG_SITES]; /* by id, 1 + index of a site */
	struct tfs_log_site sites[TFS_LOG_SITES];
	struct tfs_log_call calls[TFS_LOG_CALLS + 1];
	uint64_t operands[TFS_LOG_OPERANDS];
	/* While it looks. */
	uint32_t mask; /* of the tables below, as large as the log asks for */
	uint32_t range_count;
	uint32_t pair_count;
	struct tfs_log_path paths[TFS_LOOPS_DEPTH];
	struct tfs_log_range ranges[TFS_LOG_RANGES];
	struct tfs_log_pair pairs[TFS_LOG_PAIRS];
};

/* A range; NULL when it is not there, nor can be added where `add` asks for that. */
struct tfs_log_range *tfs_log_range(struct tfs_loops *loops, uint64_t address, bool add);

/* Folds a stack, innermost first: true when it went through a recursion. */
bool tfs_log_fold(const uint64_t *frames, uint32_t count, struct tfs_log_stack *out_stack);

/* Gives a stack that was too deep to be known to its outermost frame, and so begins in a recursion,
 * what is around that in `whole`. */
void tfs_log_root(struct tfs_log_stack *stack, const uint64_t *whole, uint32_t count);

/* Adds a site to the log; 1 + its index, 0 = no room. `work` tells apart what one call does from
 * the same stack, as a graph's launch does; 0 = nothing. */
uint32_t tfs_log_site(struct tfs_loops *loops, uint32_t id, uint32_t work, const uint64_t *frames,
	uint32_t count);

/* Is there room for another call with so many operands? Else it all begins anew. */
bool tfs_log_room(struct tfs_loops *loops, uint32_t operand_count);

/* Of the range that an operand is in: where two take turns, each update going from one to the
 * other, both are the first. */
uint64_t tfs_log_address(struct tfs_loops *loops, uint64_t operand);

/* Does the call at index `call` update that range in place, or by such a turn? */
bool tfs_log_updates(struct tfs_loops *loops, uint32_t call, uint64_t address);

/* Notes what a new call reads and writes. */
void tfs_log_note_moves(struct tfs_loops *loops, const struct tfs_log_call *call);

/* Finds the ranges that take turns. */
void tfs_log_find_turns(struct tfs_loops *loops);

/* When control last moved in the function at each level, or in one around it; and when a loop in
 * that very function last went round. Times are 1 + index of a call. */
struct tfs_log_motion {
	const struct tfs_log_site *site; /* of the latest call */
	uint32_t moved[TFS_LOOPS_DEPTH];
	uint32_t round[TFS_LOOPS_DEPTH];
};

/* Moves on to the call at time `now`, from a zeroed start where no place of the outermost path was
 * come by. Returns the level at which control moved on. */
uint32_t tfs_log_move(struct tfs_loops *loops, struct tfs_log_motion *motion, uint32_t now);

/* Fills in pairs from the log. */
void tfs_log_pair_up(struct tfs_loops *loops);

/* Fills in the step of the pair that updates the weights; false as long as there is none, or not
 * yet enough of it. */
bool tfs_log_choose(struct tfs_loops *loops);

/* Fills in the step from a pair and the level of the function whose loop carries it; false when
 * there is no place that control comes by once from one update to the next. */
bool tfs_log_place(struct tfs_loops *loops, const struct tfs_log_pair *pair, uint32_t level);

/* Where the found step's loop is an unrolled one, with several updates of the pair's range from as
 * many sites and the same between them, each of these is a step. */
void tfs_log_unroll(struct tfs_loops *loops, const struct tfs_log_pair *pair);

/* Does the call at index `call` update the pair's range from the pair's site? */
bool tfs_log_is_update(struct tfs_loops *loops, const struct tfs_log_pair *pair, uint32_t call);

/* Is what the updates read beside the range new each time? So it is taken to be where they show
 * nothing else that they read. */
bool tfs_log_is_fed(struct tfs_loops *loops, const struct tfs_log_pair *pair);

#endif
