/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_CALLS_H
#define TFS_CUPTI_CALLS_H

/* Puts the names and families of the calls whose records are kept into the recording, by CUPTI's
 * numbers. Any thread, once. */
void tfs_cupti_put_calls(void);

#endif
