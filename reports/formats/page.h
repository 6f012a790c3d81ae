/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_PAGE_H
#define TFS_REPORTS_FORMATS_PAGE_H

/*
 * The files of page/, as they are, put into the program when it is built.
 */

extern const char tfs_page_style[];
extern const char tfs_page_script[];

#endif
