/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_COMMANDS_DIFF_PAGE_H
#define TFS_REPORTS_COMMANDS_DIFF_PAGE_H

#include <stdio.h>

/* Writes a struct tfs_diff as a page for a browser: one file, no network, no script. */
int tfs_diff_page(const void *difference, FILE *out);

#endif
