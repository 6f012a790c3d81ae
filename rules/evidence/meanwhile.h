/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_MEANWHILE_H
#define TFS_RULES_EVIDENCE_MEANWHILE_H

/*
 * What a thread did on the host in some stretches of time, by the samples of it (shim/host). A
 * sample stands for the time that is nearer to it than to another one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"
#include "rules/support/arena.h"
#include "rules/support/intervals.h"

struct tfs_meanwhile {
	uint32_t samples;                      /* in the stretches; 0 = too few to tell anything */
	double time_ns;                        /* that they stand for */
	double doing_ns[TFS_HOST_DOING_COUNT]; /* of that */
	/* What went on meanwhile; NaN = not known. */
	double kernel;     /* share of the time that it ran, in the kernel */
	double queued;     /* share of the time in which it could run; if that was a good part */
	double read_bytes; /* in all of the stretches */
	double faults;     /* of pages whose contents had to be fetched, likewise */
	struct tfs_crowd {
		double count; /* means, of the samples in which the thread waited for others */
		double running;
		double disk;
	} threads, children;
	uint32_t crowds;              /* how many samples these are of */
	struct tfs_code_samples code; /* the arena's; if it ran for a good part of the time */
};

/* `stretches` are united; 0 or -ENOMEM. */
int tfs_meanwhile_find(const struct tfs_timeline *timeline, uint32_t thread,
	const struct tfs_intervals *stretches, struct tfs_arena *arena,
	struct tfs_meanwhile *out_meanwhile);

/* The share of the time in which it did this; 0 where there are too few samples. */
double tfs_meanwhile_share(const struct tfs_meanwhile *meanwhile, enum tfs_host_doing doing);

/* Whether it waited, most of the time, for what other threads or processes do. */
bool tfs_meanwhile_waits(const struct tfs_meanwhile *meanwhile);

/* Says so: "in 312 samples the thread was running (84 %), ...". `steps` are those that the
 * stretches lie in. Empty where there are too few samples. */
void tfs_meanwhile_text(
	const struct tfs_meanwhile *meanwhile, double steps, char *out_text, size_t bytes);

#endif
