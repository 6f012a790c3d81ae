/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_PATCH_STATEMENT_H
#define TFS_REPORTS_PATCH_STATEMENT_H

/* Statements of C, C++ and CUDA that do nothing but one call, found without a parser. */

#include <stdbool.h>
#include <stddef.h>

/* A file, and the same with blanks for comments, literals and directives, of which the # stays, and
 * for the ends of lines in them. */
struct tfs_c_text {
	const char *text;
	char *bare;
	size_t bytes;
};

/* Blanks what is no code in `bare`, which comes as a copy of the text with a zero behind it, and is
 * the caller's. False where nobody can tell. */
bool tfs_c_text_make_bare(struct tfs_c_text *code);

/* The lines of a statement, from 1; none where there is none. */
struct tfs_lines {
	unsigned first, last;
};

/* Of the statement at the line, by itself on its lines, that does nothing but `call`: CALL(...);
 * with a cast to void or without, or CHECK(CALL(...)); where no argument changes anything. */
struct tfs_lines tfs_statement_find(const struct tfs_c_text *code, unsigned line, const char *call);

#endif
