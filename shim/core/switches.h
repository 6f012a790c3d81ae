/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CORE_SWITCHES_H
#define TFS_SHIM_CORE_SWITCHES_H

/* Writes a fact for each debugging switch that is on in the environment, or one that none is; from
 * the environment as it is now, so once and at the start. */
void tfs_switches_write(void);

#endif
