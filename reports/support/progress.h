/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_PROGRESS_H
#define TFS_REPORTS_SUPPORT_PROGRESS_H

/*
 * One line on a terminal's stderr for work that takes more than two seconds, gone when the work
 * is done.
 */

#include <stdbool.h>

/* Starts the clock; does nothing from here on unless `wanted` and stderr is a terminal. `name`
 * must live until tfs_progress_end(). */
void tfs_progress_start(bool wanted, const char *name);

/* What is being done now, a literal. */
void tfs_progress_say(const char *what);

/* Stops and wipes the line. */
void tfs_progress_end(void);

#endif
