/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_STEADY_H
#define TFS_RULES_EVIDENCE_STEADY_H

/*
 * The evidence that all rules judge by: the calls that the program made in its judged steps
 * (recorded training steps in the steady state), in the order they were made, with what each one
 * waited for, and a replay of those steps to put a price on a change.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/waits.h"
#include "rules/timeline/timeline.h"

struct tfs_pairs;
struct tfs_whatif;

struct tfs_steady {
	const struct tfs_timeline *timeline;
	const uint32_t *steps; /* judged ones, as indices of the timeline's steps */
	uint32_t step_count;
	uint32_t mixed_steps; /* left out, because they hold another phase's work too */
	uint32_t min_steps;   /* fewer than this lowers the confidence */
	bool simulated;       /* only counts decide */
	bool run;      /* no step is known: the whole recorded run stands for one, and is no step */
	bool activity; /* device activity of the judged steps is there, and tied to calls */
	bool untied;   /* it is there, but most of it is tied to no call */
	double step_ns; /* mean duration of a judged step, as written where it can be replayed */
	double pinned_rates[2]; /* bytes per ns to and from the device; 0 = not known */
	double kernel_floor_ns; /* of the shortest kernel, see bandwidth.h */
	double busy_ns;         /* device time per judged step, all operations; 0 = not seen */

	const uint32_t *calls; /* indices of the timeline's calls, in time order */
	uint32_t call_count;
	const uint32_t *place;           /* for each call of the timeline: where it is in `calls` */
	const struct tfs_waiting *waits; /* for each of `calls` */
	struct tfs_whatif *whatif;       /* NULL = cannot be replayed */
	const struct tfs_pairs *pairs;   /* hooks against CUPTI */
	void *memory;
};

/* Collects the evidence; 0 or -ENOMEM. The timeline must stay. `whatif` and
 * `pairs` are left NULL. */
int tfs_steady_init(
	struct tfs_steady *steady, const struct tfs_timeline *timeline, uint32_t min_steps);
/* The same of a recording without known steps: all its calls, and step_count is 1, so that figures
 * per step are those of the recorded run. There are no `steps`. */
int tfs_steady_init_run(struct tfs_steady *steady, const struct tfs_timeline *timeline);
void tfs_steady_finish(struct tfs_steady *steady);

/* "the judged steps", "per step"; or what stands for them. */
const char *tfs_steady_name(const struct tfs_steady *steady);
const char *tfs_steady_each(const struct tfs_steady *steady);

/* Whether something that happens in so many judged steps is rare: at most every tenth step. Of what
 * is in the only one that is not known. */
bool tfs_steady_seldom(const struct tfs_steady *steady, uint32_t steps);

/* Calls of a function from a call site in the whole run. */
uint64_t tfs_steady_total(const struct tfs_steady *steady, uint32_t site, uint16_t function);

/* An attribute of a call, or `otherwise`. */
uint64_t tfs_steady_attribute(
	const struct tfs_host_call *call, enum tfs_attribute key, uint64_t otherwise);

/* The n-th judged call. */
static inline const struct tfs_host_call *tfs_steady_call(
	const struct tfs_steady *steady, uint32_t n)
{
	return &steady->timeline->calls[steady->calls[n]];
}

/* Whether a call of this family gives the device work to do. */
bool tfs_family_submits(enum tfs_family family);

/* How long an operation took; 0 where its times were lost. */
static inline double tfs_device_op_ns(const struct tfs_device_op *op)
{
	return op->end_ns > op->start_ns ? (double)(op->end_ns - op->start_ns) : 0;
}

/* Time the device spent on a call's operations. */
double tfs_steady_device_ns(const struct tfs_steady *steady, const struct tfs_host_call *call);

#endif
