/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_REASONS_H
#define TFS_REPORTS_MODEL_REASONS_H

/*
 * Why a rewrite refused calls, for people: one reason however many call sites it holds at.
 */

#include "reports/model/model.h"

struct tfs_refusal_reason {
	const char *text;
	uint64_t count; /* calls, at all call sites */
	size_t sites;
	const struct tfs_model_refusal *most; /* the call site with most of them */
};

/* The reasons of a rewrite's refusals, most calls first, in memory of `arena`. */
const struct tfs_refusal_reason *tfs_reasons_find(
	struct tfs_arena *arena, const struct tfs_model_rewrite *rewrite, size_t *out_count);

/* "refused 96 times at 30 call sites, most often at main.c:7 (45 times)". */
const char *tfs_reasons_print(struct tfs_arena *arena, const struct tfs_refusal_reason *reason);

#endif
