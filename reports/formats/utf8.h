/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_UTF8_H
#define TFS_REPORTS_FORMATS_UTF8_H

/*
 * File, program and kernel names are bytes that somebody else chose. Every format reads them
 * through here, so that no page, JSON document or terminal gets anything but clean characters.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_UTF8_BAD 0xfffdu

/* The character at `text` (not at its end); returns its length in bytes. A byte that starts no
 * valid character counts as one byte and TFS_UTF8_BAD. */
unsigned tfs_utf8_next(const char *text, uint32_t *out_code);

/* How many characters begin in so many bytes. */
size_t tfs_utf8_count(const char *text, size_t bytes);

/* Is this a character that nobody sees, and that changes what is seen: a C1 control, a mark that
 * reorders text or breaks lines, a blank without width, a tag? People are shown its number. */
bool tfs_utf8_hides(uint32_t code);

#endif
