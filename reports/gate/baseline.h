/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_BASELINE_H
#define TFS_REPORTS_GATE_BASELINE_H

/*
 * Is a run worse than an earlier one? A finding is known when the earlier run has one of the same
 * rule at the same place, by which pairing.h means more than the same names. A known one is worse
 * when it happens more often in each training step, or moves more bytes, than the rest of the step
 * explains; times never decide, as they differ between machines and days. A call site that no rule
 * points at is told, and no more: a program may grow.
 */

#include "reports/gate/pairing.h"

/* Why two runs cannot be compared. What is not known is no reason. */
enum tfs_apart {
	TFS_APART_NOT, /* they can */
	TFS_APART_PROGRAM,
	TFS_APART_DEVICE,    /* another GPU */
	TFS_APART_PROCESSES, /* more of them, or less, share the work */
};

struct tfs_comparison {
	const struct tfs_model *now;
	const struct tfs_model *before;
	struct tfs_pairing pairing;
	enum tfs_apart apart;
};

enum tfs_standing {
	TFS_STANDING_NEW,
	TFS_STANDING_KNOWN,
	TFS_STANDING_SCALED, /* known; there is more of it, and so there is of the rest of the step
			      */
	TFS_STANDING_WORSE,
};

/* All findings of a rule at a place, since the compiler may have made several of one line. */
struct tfs_standing_of {
	enum tfs_standing standing;
	const struct tfs_spot *was; /* its place in the earlier run; NULL when it is new */
	double calls, calls_before; /* per step */
	double bytes, bytes_before;
};

enum tfs_change { TFS_CHANGE_NONE, TFS_CHANGE_NEW, TFS_CHANGE_CALLS, TFS_CHANGE_BYTES };

/* Compares two models, which must outlive the comparison. */
void tfs_baseline_compare(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_comparison *out_comparison);

void tfs_baseline_finish(struct tfs_comparison *comparison);

/* Whether half of what either does in a step is done at the same places: then it is one program,
 * whatever its name. */
bool tfs_baseline_same_steps(const struct tfs_comparison *comparison);

/* Whether a run made fewer steps than another: then it may not have reached what begins late. */
bool tfs_baseline_shorter(const struct tfs_model *run, const struct tfs_model *other);

/* How a finding of `now` stands. */
struct tfs_standing_of tfs_baseline_standing(
	const struct tfs_comparison *comparison, const struct tfs_model_finding *finding);

/* What there is more of at a call site of `now`. */
enum tfs_change tfs_baseline_change(const struct tfs_spot *now);

/* How many of the earlier run's places with findings have none of that rule now, though the rule
 * could be judged and the run went as far; in `out_unseen` the others that have none, in `out_less`
 * those that happen less. */
size_t tfs_baseline_fixed(
	const struct tfs_comparison *comparison, size_t *out_less, size_t *out_unseen);

#endif
