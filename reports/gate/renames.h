/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_RENAMES_H
#define TFS_REPORTS_GATE_RENAMES_H

/*
 * May a call stack of one run be that of another under other names? A function that was renamed is
 * gone from the later run, and its new name is unknown to the earlier one. Where a function of the
 * one stack is known to the other run, but not on the other stack, the two are different places.
 */

#include <stdbool.h>
#include <stddef.h>

#include "reports/model/model.h"

/* Every function name on the stacks of a run; zeroed = none. Names are borrowed. */
struct tfs_names {
	const char **names; /* sorted, each once, after tfs_names_sort() */
	size_t count;
};

void tfs_names_add(struct tfs_names *names, const struct tfs_model_place *place);
void tfs_names_sort(struct tfs_names *names);
void tfs_names_finish(struct tfs_names *names);

/* Whether what differs between two stacks can be a matter of names: functions that were renamed, or
 * put around others or taken away from there. */
bool tfs_names_may_differ(const struct tfs_model_place *now, const struct tfs_names *all_now,
	const struct tfs_model_place *before, const struct tfs_names *all_before);

#endif
