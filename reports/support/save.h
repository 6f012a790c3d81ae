/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_SAVE_H
#define TFS_REPORTS_SUPPORT_SAVE_H

/*
 * Reports beside a recording, and the few lines that name them.
 */

#include "reports/model/model.h"

/* Writes every format that lies beside a recording. Says what cannot be written; returns 0 or
 * negative errno of the first failure. */
int tfs_save_beside(const struct tfs_model *model);

/* At most ten lines on stderr: the verdict, the three worst findings, where the reports are. */
void tfs_save_summary(const struct tfs_model *model);

/* Loads a recording, writes the reports beside it and, unless `quiet`, the summary. Says what went
 * wrong; returns the exit status. */
int tfs_save_report(const char *recording, int quiet);

#endif
