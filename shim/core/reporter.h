/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CORE_REPORTER_H
#define TFS_SHIM_CORE_REPORTER_H

/*
 * Runs `tfshim report` on the finished recording, as a child that the program cannot notice: no
 * SIGCHLD, nothing for its waitpid(-1), none of its descriptors above 2, not its LD_PRELOAD. Waits
 * at most ten seconds. Only rank 0, and only when the options ask for reports.
 */
void tfs_reporter_run(const char *recording);

#endif
