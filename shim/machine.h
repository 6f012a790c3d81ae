/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_MACHINE_H
#define TFS_SHIM_MACHINE_H

/* Writes which devices and which of NVIDIA's libraries the program runs on. Inside a hook, once a
 * CUDA call has returned; uses driver queries only, which leave no trace in the program. */
void tfs_machine_write(void);

#endif
