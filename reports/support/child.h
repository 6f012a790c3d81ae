/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_CHILD_H
#define TFS_REPORTS_SUPPORT_CHILD_H

/* The program that `tfshim run` runs: signals are passed on to it, and its end is understood. */

#include <stdbool.h>

#include "reports/support/recordings.h"
#include "shim/rewrites/breaker/breaker_marks.h"

#define TFS_CHILD_NOT_FOUND 127

struct tfs_child {
	struct tfs_actor actor;
	int error;  /* why it could not be started, or 0 */
	int status; /* as from waitpid(), when it has ended */
	bool ended;
};

/* Runs the program to its end; its exit status, as a shell has it. */
int tfs_child_run(struct tfs_child *child, char **program);

/* Tells the circuit breaker how it ended. */
void tfs_child_settle(const struct tfs_child *child, const struct tfs_recordings *recordings);

#endif
