/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_SUMMARY_H
#define TFS_RULES_JUDGE_SUMMARY_H

/*
 * The parts of a judgement that are told rather than judged: program, device, steps, rewrites,
 * losses, and the verdict in one line.
 */

#include "rules/evidence/steady.h"
#include "rules/judge/judge.h"
#include "rules/support/arena.h"

/* Fills program, device, visibility, steps, rewrites and losses. */
void tfs_summary_fill(const struct tfs_steady *steady, struct tfs_judgement *judgement);

/* What a rewrite, NULL for none, did at a finding's call site; after tfs_summary_fill(). */
struct tfs_repair tfs_summary_repair(const struct tfs_judgement *judgement, const char *rewrite,
	const struct tfs_finding *finding);

/* Counts the levels and writes the verdict line; at the end. */
void tfs_summary_conclude(const struct tfs_timeline *timeline, struct tfs_judgement *judgement);

#endif
