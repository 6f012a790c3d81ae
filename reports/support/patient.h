/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_PATIENT_H
#define TFS_REPORTS_SUPPORT_PATIENT_H

/*
 * Standard error of a traced program that is about to end, and waits for us: there may be no room
 * in it, and nobody to make some. It gets a second altogether; what finds no room by then is
 * dropped.
 */

/* From now on, stderr is that. */
void tfs_patient_stderr(void);

#endif
