/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_REWRITE_H
#define TFS_SHIM_TRACE_FORMAT_REWRITE_H

/* Part of format.h: rewrites and what they found. */

#include "shim/trace/format/check.h"
#include "shim/trace/format/reason.h"
#include "shim/trace/format/record.h"

enum tfs_rewrite_state {
	TFS_REWRITE_OFF = 0,
	TFS_REWRITE_REPORT = 1,
	TFS_REWRITE_SHADOW = 2,
	TFS_REWRITE_APPLY = 3,
	TFS_REWRITE_LOST = 4 /* measured, and not faster: it is off */
};

/* What measuring it on the running program found. */
enum tfs_rewrite_outcome {
	TFS_REWRITE_NOT_MEASURED = 0,
	TFS_REWRITE_FASTER = 1,
	TFS_REWRITE_SLOWER = 2,
	TFS_REWRITE_NO_DIFFERENCE = 3,
	TFS_REWRITE_UNDECIDED = 4
};

/* The state of one rewrite; a later record of the same name replaces an earlier one. */
struct tfs_rewrite_record {
	struct tfs_record record;
	uint16_t state;   /* enum tfs_rewrite_state */
	uint32_t name;    /* string id */
	uint64_t applied; /* calls it took part in */
	uint64_t bytes;
	double predicted_ns; /* gain per step; NaN = not predicted */
	double realised_ns;  /* gain per step with its 99 % interval; NaN = not measured */
	double realised_low_ns;
	double realised_high_ns;
	uint16_t class;   /* 1 exact, 2 rounding, 3 reduced */
	uint16_t outcome; /* enum tfs_rewrite_outcome */
	uint32_t reserved0;
	struct tfs_reason reason; /* why it is as it is */
};

/* A rewrite did not apply at a call site because a check failed, `count` times. A later record of
 * the same rewrite, check, object and call site replaces an earlier one. */
struct tfs_refusal_record {
	struct tfs_record record;
	uint16_t check;   /* enum tfs_check */
	uint32_t site;    /* call site */
	uint32_t rewrite; /* string id of its name */
	uint32_t object;  /* string id: the function or library that caused it, 0 = none */
	uint64_t count;
	uint64_t reserved0;
};

/* One candidate of a measured algorithm search. */
struct tfs_search_record {
	struct tfs_record record;
	uint16_t algorithm;
	uint32_t problem; /* id of a problem record */
	float time_ms;    /* median; negative = not available */
	float spread_ms;  /* slowest minus fastest repeat */
	uint64_t workspace;
	uint32_t math;
	uint32_t flags; /* 1 deterministic, 2 asked for, 4 chosen, 8 within the rewrite's fences */
};

/* A product that cuBLASLt computes: what its algorithm takes, and the fastest of those that were
 * measured beside it. */
struct tfs_product_record {
	struct tfs_record record;
	uint16_t tried; /* how many, the program's aside */
	uint32_t flags; /* 1 clearly faster than the program's, 2 first answer with `most_workspace`
			 */
	uint64_t question;
	float own_ms;           /* the program's: median */
	float own_spread_ms;    /* slowest minus fastest repeat */
	uint64_t own_workspace; /* that the program gives */
	float best_ms;
	float best_spread_ms;
	uint64_t best_workspace; /* that it needs */
	uint64_t most_workspace; /* that any of them might need */
	uint64_t reserved0;
};

TFS_SIZE_IS(struct tfs_product_record, 64);
TFS_SIZE_IS(struct tfs_rewrite_record, 128);
TFS_SIZE_IS(struct tfs_reason, 64);
TFS_SIZE_IS(struct tfs_refusal_record, 32);
TFS_SIZE_IS(struct tfs_search_record, 32);

#endif
