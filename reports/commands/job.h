/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_COMMANDS_JOB_H
#define TFS_REPORTS_COMMANDS_JOB_H

/*
 * What only the recordings of all ranks together tell: whether the job's slowest rank got faster by
 * a rewrite (shim/rewrites/measure/ranked.h).
 */

/* Looks through the recordings of a folder, prints the verdicts of each job on stdout, and writes
 * them to the file that the job's next run goes by. Nothing is printed where no recording was made
 * with several ranks. 0, or TFS_EXIT_MISUSE when the file cannot be written. */
int tfs_job_report(const char *folder, char *const *paths, int count);

#endif
