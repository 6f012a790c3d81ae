/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_MEANWHILE_H
#define TFS_RULES_EVIDENCE_MEANWHILE_H

/*
 * What a thread did on the host in some stretches of time, by the samples that were taken at it in
 * windows: how many of the samples found it at what. Shares of time are as good as samples are
 * many.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"
#include "rules/support/intervals.h"
#include "rules/support/pool.h"

struct tfs_meanwhile {
	uint32_t samples;                     /* in the stretches */
	uint32_t doing[TFS_HOST_DOING_COUNT]; /* of these */
	double queued; /* share of the time in which it could run, and no processor was free; NaN =
			* not known */
	double read_bytes; /* in the stretches and at their edges; NaN = not known */
	uint64_t faults;   /* of pages that were read from a disk, likewise */
	struct tfs_crowd {
		double count; /* means, of the samples in which the thread waited for others */
		double running;
		double disk;
	} threads, children;
	uint32_t crowds;       /* how many samples these are of */
	struct tfs_code *code; /* where it ran, most often first; the pool's */
	uint32_t code_count;
	uint32_t code_samples; /* of all code, listed or not */
};

/* `stretches` are united; 0 or -ENOMEM. */
int tfs_meanwhile_find(const struct tfs_timeline *timeline, uint32_t thread,
	const struct tfs_intervals *stretches, struct tfs_pool *pool,
	struct tfs_meanwhile *out_meanwhile);

/* What most samples found it at: the enum's number; TFS_HOST_unknown where there are too few. */
enum tfs_host_doing tfs_meanwhile_most(const struct tfs_meanwhile *meanwhile);

/* Whether it mostly waits for what another thread or process does. */
bool tfs_meanwhile_waits(const struct tfs_meanwhile *meanwhile);

/* A clause that says so: "it is running in 84 % of 312 samples ...". `steps` are those that the
 * stretches lie in. Empty where there are too few samples. */
void tfs_meanwhile_text(
	const struct tfs_meanwhile *meanwhile, double steps, char *out_text, size_t bytes);

#endif
