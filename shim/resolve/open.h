/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_OPEN_H
#define TFS_SHIM_RESOLVE_OPEN_H

/* What the shim's dlopen (dlsym_*.S) opens a file with: the caller's flags; but some without
 * RTLD_DEEPBIND (see deep.h), and the driver with RTLD_NODELETE. A program may close the driver
 * while a thread of the shim's asks it for the device, and what the shim knows of it would point to
 * nowhere. `file` may be NULL. Any thread, before any constructor ran. */
int tfs_open_flags(const char *file, int flags);

#endif
