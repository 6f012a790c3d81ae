/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_LOCATE_H
#define TFS_REPORTS_SUPPORT_LOCATE_H

/*
 * Where the recording library lies: beside this program, where both were built or installed; never
 * by a search path, which somebody else may set.
 */

#include <limits.h>

/* Writes the absolute path of libtfshim.so; 0, or -ENOENT when it is in none of its places. */
int tfs_locate_library(char out_path[PATH_MAX]);

/* What to say then. */
#define TFS_LIBRARY_MISSING                                                                        \
	"libtfshim.so was not found beside the tfshim command, nor in ../shim or ../lib from "     \
	"there: install both with 'meson install -C build', or run build/reports/tfshim of a "     \
	"whole build folder"

/* Writes the path of the system's jemalloc; 0, or -ENOENT when it is not installed. */
int tfs_locate_jemalloc(char out_path[PATH_MAX]);

#endif
