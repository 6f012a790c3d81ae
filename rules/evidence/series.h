/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_SERIES_H
#define TFS_RULES_EVIDENCE_SERIES_H

/*
 * Calls of one place that could be one call: those of a step that follow each other on one thread
 * while it gives the device nothing else to do and waits for nothing. Such calls can be merged
 * without any other work coming before or after them that did not before.
 */

#include <stdbool.h>
#include <stddef.h>

#include "rules/evidence/findings.h"

struct tfs_series {
	const struct tfs_hit *items;
	size_t count;
};

/* The series that starts with the nth hit of a place. */
struct tfs_series tfs_series_at(
	const struct tfs_steady *steady, const struct tfs_place *place, size_t nth);

/* All hits of the nth one's step, from it on, whatever lies between them. */
struct tfs_series tfs_series_step(
	const struct tfs_steady *steady, const struct tfs_place *place, size_t nth);

/* Adds edits that leave of a series its nth call, whose operations then take `merged_ns`: all
 * others go, with what they give the device. */
void tfs_series_merge(const struct tfs_steady *steady, const struct tfs_series *series, size_t nth,
	double merged_ns, struct tfs_hits *edits);

/* What the device does for the calls of a series, less what `floor_ns` of all calls but one is. */
double tfs_series_merged_ns(
	const struct tfs_steady *steady, const struct tfs_series *series, double floor_ns);

#endif
