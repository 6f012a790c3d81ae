/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_BASELINE_H
#define TFS_REPORTS_BASELINE_H

/*
 * Is a run worse than an earlier one? Counts and bytes per training step decide, at each call
 * site; times never do, as they differ between machines and days. Call sites are matched by
 * function and file names of their stacks, so that neither other line numbers nor another build
 * make a site new.
 */

#include "reports/model.h"

struct tfs_difference {
	enum { TFS_DIFFERENCE_NEW, TFS_DIFFERENCE_CALLS, TFS_DIFFERENCE_BYTES } kind;
	const struct tfs_model_call *now;
	const struct tfs_model_call *before; /* NULL when it is new */
};

/* Lists the call sites of the steps of `now` that are new, or have more calls or bytes than in
 * `before`. The caller frees the list; it points into both models. Returns how many. */
size_t tfs_baseline_compare(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_difference **out_differences);

/* Whether the baseline has the same finding at the same call site. */
bool tfs_baseline_knows(const struct tfs_model *before, const struct tfs_model_finding *finding);

#endif
