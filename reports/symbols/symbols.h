/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SYMBOLS_SYMBOLS_H
#define TFS_REPORTS_SYMBOLS_SYMBOLS_H

/*
 * Return addresses of a recording as functions, files and lines, from the debugging information of
 * the files that were mapped. A file that was rebuilt since is recognised by its build id and not
 * used. Each file is opened once, when first needed; each address is looked up once. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/trace/trace.h"

struct tfs_symbols;

/* One function at an address; several when calls were inlined. Texts live as long as the symbols.
 */
struct tfs_symbol {
	const char *function; /* NULL = unknown */
	const char *file;     /* NULL = unknown */
	const char *folder;   /* in which the compiler ran; NULL = unknown */
	unsigned line;        /* 0 = unknown */
	bool inlined;         /* its caller is the next one at the same address */
};

/* NULL when out of memory. The trace must outlive it. */
struct tfs_symbols *tfs_symbols_create(const struct tfs_trace *trace);
void tfs_symbols_destroy(struct tfs_symbols *symbols);

/* The call before a return address: innermost function first; 0 = nothing is known but the module.
 */
size_t tfs_symbols_find(
	struct tfs_symbols *symbols, uint64_t return_address, const struct tfs_symbol **out_found);

/* Path of the file mapped at an address and the offset in it; NULL = none. */
const char *tfs_symbols_module(
	const struct tfs_symbols *symbols, uint64_t address, uint64_t *out_offset);

/* How many mapped files could not be used because they are not the ones that ran any more. */
unsigned tfs_symbols_changed(const struct tfs_symbols *symbols);

#endif
