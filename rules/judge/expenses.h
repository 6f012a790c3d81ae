/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_EXPENSES_H
#define TFS_RULES_JUDGE_EXPENSES_H

/*
 * Where the time of a run goes, whether or not training steps are known: call sites by the host's
 * time in calls that block, by the device's time, and by the bytes they copy or set.
 */

#include <stddef.h>
#include <stdint.h>

#include "rules/support/arena.h"
#include "rules/timeline/timeline.h"

enum tfs_expense_kind {
	TFS_EXPENSE_BLOCKED, /* nanoseconds of all threads together, in the whole run */
	TFS_EXPENSE_DEVICE,  /* nanoseconds of all streams together, in windows with activity */
	TFS_EXPENSE_BYTES,   /* in the whole run */
	TFS_EXPENSES
};

/* Calls of one function at one call site. */
struct tfs_expense {
	uint32_t site;
	uint16_t function;
	uint64_t calls; /* in the whole run */
	double amount;
};

struct tfs_expenses {
	struct tfs_expense *items; /* most expensive first */
	size_t count;
	double whole; /* what amounts are a share of: recorded time, or all bytes; 0 = not known */
	double unowned; /* of calls that are not in the recording; 0 = none */
};

/* Fills a list of each kind with the arena's memory; 0 or -ENOMEM. */
int tfs_expenses_find(const struct tfs_timeline *timeline, struct tfs_arena *arena,
	struct tfs_expenses out_expenses[TFS_EXPENSES]);

#endif
