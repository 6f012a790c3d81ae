/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_LOOKUP_VERSIONS_H
#define TFS_SHIM_RESOLVE_LOOKUP_VERSIONS_H

/* Several versions of one library in a process; between lookup.c, which finds functions, and
 * lookup_versions.c, which tells whose. Any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

#define TFS_LOOKUP_LIBRARIES 9u /* their numbers are below this */

/* Are several versions of it mapped? */
bool tfs_lookup_mixed(enum tfs_library library);

/* The name of the version that the object of a return address is linked to; false when it is linked
 * to none. */
bool tfs_lookup_link(enum tfs_library library, const void *caller, char *out_name, size_t room);

/* How the library's file name begins. */
const char *tfs_lookup_file(uint32_t library);

/* No pointer into these libraries, one bit each, may be kept any longer. */
void tfs_lookup_unsteady(uint32_t libraries);

#endif
