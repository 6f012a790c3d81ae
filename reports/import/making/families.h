/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_FAMILIES_H
#define TFS_REPORTS_IMPORT_FAMILIES_H

#include "shim/trace/format/function.h"

/* What a call of the CUDA runtime or driver does, by its name, as recordings of other tools have
 * nothing but that. */
enum tfs_family tfs_family_of(const char *name);
/* Which of the two has it. */
enum tfs_library tfs_library_of(const char *name);

#endif
