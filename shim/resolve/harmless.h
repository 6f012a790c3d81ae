/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_HARMLESS_H
#define TFS_SHIM_RESOLVE_HARMLESS_H

#include <stdbool.h>

/*
 * Is it a function of CUDA's libraries that gives the device nothing to do, and shows its memory to
 * nobody: of descriptors, error strings, versions, counts, queries? What is not known is not
 * harmless. Asked of those that have no hook. tests/unit/shim/harmless.txt says which these are,
 * name by name. Any thread.
 */
bool tfs_is_harmless(const char *name);

#endif
