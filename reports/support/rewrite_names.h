/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_REWRITE_NAMES_H
#define TFS_REPORTS_SUPPORT_REWRITE_NAMES_H

/*
 * What TFSHIM_REWRITE takes, checked before a program is started with it: inside the program a
 * wrong name could only be ignored.
 */

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is a list of sets (off, report, exact, safe, all), NAME and NAME=MODE; else the
 * first word that is none. */
bool tfs_rewrite_names_valid(const char *text, char *out_unknown, size_t bytes);

/* Whether `text` asks for the rewrite `name` by its name, and it is to act. */
bool tfs_rewrite_names_asks(const char *text, const char *name);

/* All names, separated by commas. */
const char *tfs_rewrite_names_text(void);

#endif
