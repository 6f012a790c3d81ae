/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_TEXT_H
#define TFS_REPORTS_FORMATS_TEXT_H

/*
 * Text for terminals. Names are other people's bytes: no control character gets out of here.
 */

#include <stdio.h>

/* Writes `text` with every control character and broken byte replaced, and what is hidden shown by
 * its number. */
void tfs_text_put(FILE *out, const char *text);

/* Prints a line in that way, and ends it. */
void tfs_text_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A paragraph, wrapped: its first line continues what was printed, all others stand behind
 * `indent` blanks. */
void tfs_text_wrapped(FILE *out, const char *text, int indent);

#endif
