/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_MODULES_H
#define TFS_SHIM_RECORD_MODULES_H

/* Writes which files are mapped where, with their build ids, so that addresses can be given names
 * after the run. Objects that were written before are left out. Any thread. */
void tfs_modules_write(void);

#endif
