/* SPDX-License-Identifier: MIT */
/* What of a source is code. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "reports/patch/statement.h"

#define NOWHERE SIZE_MAX

static size_t blank(struct tfs_c_text *code, size_t from, size_t to)
{
	memset(code->bare + from, ' ', to - from);
	return to;
}

/* Behind the line, and those that it is continued on. */
static size_t line_end(const struct tfs_c_text *code, size_t at)
{
	for (; at < code->bytes && code->text[at] != '\n'; at++)
		if (code->text[at] == '\\')
			at += code->text[at + 1] == '\r' ? 2 : 1;
	return at < code->bytes ? at : code->bytes;
}

/* Behind the literal; NOWHERE where it has no end on its line. */
static size_t literal_end(const struct tfs_c_text *code, size_t at)
{
	const char quote = code->text[at++];

	for (; at < code->bytes && code->text[at] != '\n'; at++) {
		if (code->text[at] == quote)
			return at + 1;
		at += code->text[at] == '\\';
	}
	return NOWHERE;
}

static size_t comment_end(const struct tfs_c_text *code, size_t at)
{
	const char *end = memmem(code->text + at + 2, code->bytes - at - 2, "*/", 2);

	return end ? (size_t)(end - code->text) + 2 : code->bytes;
}

/* Behind what is not code at `at`; `at` itself where it is; NOWHERE where nobody can tell. */
static size_t skip(struct tfs_c_text *code, size_t at, bool begins)
{
	const char c = code->text[at], next = at + 1 < code->bytes ? code->text[at + 1] : '\0';
	const char before = at > 0 ? code->text[at - 1] : ' ';

	if (c == '#' && begins)
		return blank(code, at + 1, line_end(code, at));
	if (c == '/' && next == '/')
		return blank(code, at, line_end(code, at));
	if (c == '/' && next == '*')
		return blank(code, at, comment_end(code, at));
	if (c == '"' && before == 'R')
		return NOWHERE; /* a raw string */
	if (c == '\'' && isdigit((unsigned char)before))
		return at; /* between digits */
	if (c != '"' && c != '\'')
		return at;
	const size_t end = literal_end(code, at);
	return end == NOWHERE ? NOWHERE : blank(code, at, end);
}

bool tfs_c_text_make_bare(struct tfs_c_text *code)
{
	bool begins = true; /* nothing but blanks on this line so far */

	for (size_t at = 0; at < code->bytes;) {
		const size_t behind = skip(code, at, begins);

		if (behind == NOWHERE)
			return false;
		if (behind == at) {
			begins = code->text[at] == '\n' ||
				 (begins && isspace((unsigned char)code->text[at]));
			at++;
		} else {
			at = behind;
		}
	}
	return true;
}
