/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_TOTALS_H
#define TFS_REPORTS_IMPORT_TOTALS_H

/* Calls added up by call site and function, as a thread's aggregates. */

#include "shim/trace/format/format.h"

/* Zeroed = empty. */
struct tfs_totals {
	struct tfs_aggregate *items;
	uint32_t *slots; /* item + 1 */
	uint32_t count, slot_count;
};

/* Adds a call; 0 or -ENOMEM. */
int tfs_totals_add(struct tfs_totals *totals, const struct tfs_call *call);
void tfs_totals_finish(struct tfs_totals *totals);

#endif
