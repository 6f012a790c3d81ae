/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_CORE_MACHINE_H
#define TFS_SHIM_CORE_MACHINE_H

#include <stdbool.h>

/* Writes which devices and which of NVIDIA's libraries the program runs on, as far as that was not
 * done yet; nothing before the driver was started, unless this is the `last` chance. True when the
 * devices are written. Where no hook of the calling thread is active any more; uses driver queries
 * only, which leave no trace in the program. */
bool tfs_machine_write(bool last);

#endif
