/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_JSON_WRITER_H
#define TFS_REPORTS_FORMATS_JSON_WRITER_H

/*
 * JSON, written as it is told: no tree, no memory, exact 64-bit integers. Keys come out in the
 * order they are given. Strings that are not UTF-8 are repaired byte by byte with U+FFFD.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TFS_JSON_DEPTH 32u

struct tfs_json {
	FILE *out;
	bool for_html; /* escapes what would end or open something inside a <script> */
	bool compact;  /* no line breaks */
	unsigned depth;
	bool filled[TFS_JSON_DEPTH]; /* something was written at this depth */
};

/* Starts writing; `out` stays the caller's, and its error flag tells whether all went well. */
void tfs_json_init(struct tfs_json *json, FILE *out, bool for_html);

/* Opens an object or an array; `key` is NULL inside arrays and at the top. */
void tfs_json_open(struct tfs_json *json, const char *key, char bracket);

/* Closes the innermost object or array with '}' or ']'. */
void tfs_json_close(struct tfs_json *json, char bracket);

/* One value each; a NULL string and a number that is not finite become null. */
void tfs_json_string(struct tfs_json *json, const char *key, const char *value);
void tfs_json_unsigned(struct tfs_json *json, const char *key, uint64_t value);
void tfs_json_number(struct tfs_json *json, const char *key, double value);
void tfs_json_bool(struct tfs_json *json, const char *key, bool value);
void tfs_json_null(struct tfs_json *json, const char *key);

#endif
