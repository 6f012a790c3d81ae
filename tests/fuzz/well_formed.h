/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_FUZZ_WELL_FORMED_H
#define TFS_TESTS_FUZZ_WELL_FORMED_H

/*
 * What must hold for a report whatever the recording: each check returns NULL, or what is wrong,
 * and then sets `*out_at` to where. Texts end with a zero byte behind `size`.
 */

#include <stddef.h>

/* UTF-8 without control characters (but newline, and tab where `tabs`), and without those that
 * reorder text or that nobody sees. */
const char *well_formed_text(const char *text, size_t size, int tabs, size_t *out_at);

/* One JSON value as RFC 8259 has it, without a key twice in one object. */
const char *well_formed_json(const char *text, size_t size, size_t *out_at);

/* Elements that are closed in order, quoted attributes, none twice, known references, no script
 * besides its own (`scripts` of them). */
const char *well_formed_html(const char *text, size_t size, unsigned scripts, size_t *out_at);

#endif
