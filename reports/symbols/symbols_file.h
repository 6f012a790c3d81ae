/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SYMBOLS_SYMBOLS_FILE_H
#define TFS_REPORTS_SYMBOLS_SYMBOLS_FILE_H

/*
 * The names and lines of one mapped file. symbols_file.c reads them with libdw; where that was not
 * there at build time, symbols_file_none.c knows nothing.
 */

#include "reports/symbols/symbols.h"

struct tfs_symbols_file;

/* Opens the file a module record names; NULL when it is gone or not the one that ran: then
 * `*out_changed` is set. */
struct tfs_symbols_file *tfs_symbols_file_open(
	const char *path, const struct tfs_module_record *record, bool *out_changed);

/* Functions at an address of the process, innermost first; returns how many. Their texts live
 * until the next call and are as the compiler wrote them. */
size_t tfs_symbols_file_find(
	struct tfs_symbols_file *file, uint64_t address, struct tfs_symbol *out_found, size_t most);

/* Whether lines are found for this file, in it or in a debug file on this machine. */
bool tfs_symbols_file_has_lines(const char *path);

void tfs_symbols_file_close(struct tfs_symbols_file *file);

#endif
