/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_AHEAD_H
#define TFS_RULES_JUDGE_AHEAD_H

/*
 * A host that runs ahead of the device: it has made the calls of many steps before the device has
 * done the work of the first, as its queue holds a thousand launches. What the host takes for a
 * step says then how fast it calls; a step takes what the device takes from the end of one step's
 * work to the end of the next one's.
 */

#include <stdbool.h>

#include "rules/evidence/steady.h"

struct tfs_ahead {
	bool found;
	double step_ns;   /* mean */
	double spread_ns; /* standard error of it */
	double busy;      /* share in which some device works, 0 to 1 */
};

/* Looks at the judged steps; `out_ahead` is zeroed where the host does not run ahead, or too few
 * steps follow each other. 0 or -ENOMEM. */
int tfs_ahead_find(const struct tfs_steady *steady, struct tfs_ahead *out_ahead);

#endif
