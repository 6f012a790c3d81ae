/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SYMBOLS_DEMANGLE_H
#define TFS_REPORTS_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

/*
 * C++ names as people write them. Where the library for that was not there at build time,
 * demangle_none.c leaves them as they are.
 */

/* The readable name, or NULL when `name` is readable already; the caller frees it. */
char *tfs_demangle(const char *name, bool parameters);

#endif
