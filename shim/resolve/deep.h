/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_DEEP_H
#define TFS_SHIM_RESOLVE_DEEP_H

/*
 * Libraries opened with RTLD_DEEPBIND find their own libraries' functions first, so that what they
 * call passes the hooks by. The shim's dlopen lets them, and the recording names those that use
 * CUDA; with the option deepbind=0 it takes the flag away.
 */

#include <stdint.h>

/* The flags to open `file` with, which were asked for with RTLD_DEEPBIND. Any thread, before any
 * constructor ran; may change errno. */
int tfs_deep_flags(const char *file, int flags);

/* Was anything opened so? NULL: no; else the first file's name. */
const char *tfs_deep_any(void);

/* The next file from `*place` on that was opened so and uses CUDA, or NULL; moves on to the one
 * behind it. From 0 on; one thread at a time. */
const char *tfs_deep_next(uint32_t *place);

#endif
