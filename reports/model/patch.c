/* SPDX-License-Identifier: MIT */
#include "reports/model/patch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/source.h"

#define CONTEXT 3u
#define MOST_PATCH_BYTES 4096u
#define NOWHERE SIZE_MAX

/* A file, and the same with blanks for comments, literals and directives, of which the # stays. */
struct code {
	const char *text;
	char *bare;
	size_t bytes;
};

/* The lines of a statement, from 1; none where there is none. */
struct lines {
	unsigned first, last;
};

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t blank(struct code *code, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (code->text[i] != '\n')
			code->bare[i] = ' ';
	return to;
}

/* Behind the line, and those that it is continued on. */
static size_t line_end(const struct code *code, size_t at)
{
	for (; at < code->bytes && code->text[at] != '\n'; at++)
		if (code->text[at] == '\\')
			at += code->text[at + 1] == '\r' ? 2 : 1;
	return at < code->bytes ? at : code->bytes;
}

/* Behind the literal; NOWHERE where it has no end on its line. */
static size_t literal_end(const struct code *code, size_t at)
{
	const char quote = code->text[at++];

	for (; at < code->bytes && code->text[at] != '\n'; at++) {
		if (code->text[at] == quote)
			return at + 1;
		at += code->text[at] == '\\';
	}
	return NOWHERE;
}

static size_t comment_end(const struct code *code, size_t at)
{
	const char *end = memmem(code->text + at + 2, code->bytes - at - 2, "*/", 2);

	return end ? (size_t)(end - code->text) + 2 : code->bytes;
}

/* Behind what is not code at `at`; `at` itself where it is; NOWHERE where nobody can tell. */
static size_t skip(struct code *code, size_t at, bool begins)
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

static bool make_bare(struct code *code)
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

static size_t behind_blanks(const struct code *code, size_t at, size_t end)
{
	while (at < end && isspace((unsigned char)code->bare[at]))
		at++;
	return at;
}

/* Behind the word, which may be NULL for any name; NOWHERE where it is not there. */
static size_t behind_word(const struct code *code, size_t at, size_t end, const char *word)
{
	size_t behind = at = behind_blanks(code, at, end);

	while (behind < end && in_name(code->bare[behind]))
		behind++;
	if (behind == at || (word && (strlen(word) != behind - at ||
					     memcmp(code->bare + at, word, behind - at))))
		return NOWHERE;
	return behind;
}

static size_t behind_char(const struct code *code, size_t at, size_t end, char c)
{
	at = at == NOWHERE ? NOWHERE : behind_blanks(code, at, end);
	return at != NOWHERE && at < end && code->bare[at] == c ? at + 1 : NOWHERE;
}

/* Functions that change nothing; others might. */
static bool is_pure(const struct code *code, size_t from, size_t to)
{
	static const char *const names[] = {"sizeof", "size", "data", "get"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (to - from == strlen(names[i]) &&
			!memcmp(code->bare + from, names[i], to - from))
			return true;
	return false;
}

/* Is the character at `at` part of what changes something? */
static bool changes(const struct code *code, size_t at)
{
	const char c = code->bare[at], before = code->bare[at - 1], next = code->bare[at + 1];
	size_t to = at, from;

	if (c == '#' || c == '{')
		return true;
	if (c == '=')
		return next != '=' && !strchr("=!<>", before);
	if (c == '+' || c == '-')
		return next == c;
	if (c != '(')
		return false;
	while (isspace((unsigned char)code->bare[to - 1]))
		to--;
	for (from = to; in_name(code->bare[from - 1]);)
		from--;
	return from < to && !is_pure(code, from, to);
}

/* Behind the arguments that begin at `at` with a parenthesis, if to leave them out changes nothing
 * else. */
static size_t behind_arguments(const struct code *code, size_t at, size_t end)
{
	const size_t first = behind_char(code, at, end, '(');
	unsigned depth = 1;

	if (first == NOWHERE)
		return NOWHERE;
	for (at = first; at < end && depth > 0; at++) {
		if (changes(code, at))
			return NOWHERE;
		depth += code->bare[at] == '(';
		depth -= code->bare[at] == ')';
	}
	return depth ? NOWHERE : at;
}

static bool is_keyword(const struct code *code, size_t at, size_t end)
{
	static const char *const words[] = {"if", "while", "for", "switch", "return", "else", "do",
		"case", "throw", "delete", "co_return", "co_await", "co_yield"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (behind_word(code, at, end, words[i]) != NOWHERE)
			return true;
	return false;
}

/* CALL(...); with a cast to void or without, or MACRO(CALL(...)); */
static bool only_calls(const struct code *code, size_t at, size_t end, const char *call)
{
	size_t inner = behind_char(code, at, end, '(');

	if (inner != NOWHERE) {
		inner = behind_word(code, inner, end, "void");
		at = behind_char(code, inner, end, ')');
		if (at == NOWHERE)
			return false;
	}
	inner = behind_word(code, at, end, call);
	if (inner != NOWHERE) {
		inner = behind_arguments(code, inner, end);
		return inner != NOWHERE && behind_blanks(code, inner, end) == end;
	}
	if (is_keyword(code, at, end))
		return false;
	inner = behind_char(code, behind_word(code, at, end, NULL), end, '(');
	if (inner == NOWHERE)
		return false;
	inner = behind_word(code, inner, end, call);
	if (inner == NOWHERE)
		return false;
	inner = behind_arguments(code, inner, end);
	inner = inner == NOWHERE ? NOWHERE : behind_char(code, inner, end, ')');
	return inner != NOWHERE && behind_blanks(code, inner, end) == end;
}

static unsigned line_of(const struct code *code, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += code->text[i] == '\n';
	return line;
}

static bool blanks_only(const char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

/* A statement from `from` up to its semicolon has its lines to itself, but for a comment behind. */
static bool stands_alone(const struct code *code, size_t from, size_t semicolon)
{
	size_t begin = from, end = semicolon + 1;

	while (begin > 0 && code->text[begin - 1] != '\n')
		begin--;
	while (end < code->bytes && code->text[end] != '\n')
		end++;
	return blanks_only(code->text, begin, from) && blanks_only(code->bare, semicolon + 1, end);
}

/* What is ahead of a directive may belong to what is behind it, and a pragma does. */
static bool spoils(const struct code *code, size_t at, bool inside)
{
	const char *word = code->text + at + 1;

	return inside || !strncmp(word + strspn(word, " \t"), "pragma", strlen("pragma"));
}

/* Of a statement at the line that does nothing but the call. */
static struct lines find_statement(const struct code *code, unsigned line, const char *call)
{
	size_t from = NOWHERE;
	unsigned depth = 0;
	bool spoilt = false; /* up to the next brace */

	for (size_t at = 0; at < code->bytes; at++) {
		const char c = code->bare[at];

		if (isspace((unsigned char)c))
			continue;
		if (depth == 0 && c && strchr(";{}#", c)) {
			if (c == ';' && from != NOWHERE && !spoilt &&
				only_calls(code, from, at, call)) {
				const struct lines own = {line_of(code, from), line_of(code, at)};

				if (own.first <= line && line <= own.last &&
					stands_alone(code, from, at))
					return own;
			}
			spoilt = c == '#'   ? spoilt || spoils(code, at, from != NOWHERE)
				 : c == ';' ? spoilt
					    : false;
			from = NOWHERE;
			continue;
		}
		from = from == NOWHERE ? at : from;
		depth += c == '(' || c == '[';
		depth -= depth > 0 && (c == ')' || c == ']');
	}
	return (struct lines){0};
}

/* The first byte of a line, or the end. */
static size_t begin_of(const struct code *code, unsigned line)
{
	size_t at = 0;

	for (unsigned i = 1; i < line && at < code->bytes; i++) {
		const char *end = memchr(code->text + at, '\n', code->bytes - at);

		at = end ? (size_t)(end - code->text) + 1 : code->bytes;
	}
	return at;
}

/* Each with this in front. */
static void put_lines(
	FILE *out, const struct code *code, unsigned first, unsigned behind, char mark)
{
	for (unsigned line = first; line < behind; line++) {
		const size_t from = begin_of(code, line), to = begin_of(code, line + 1);

		if (from == to)
			return;
		fprintf(out, "%c%.*s%s", mark, (int)(to - from), code->text + from,
			code->text[to - 1] == '\n' ? "" : "\n\\ No newline at end of file\n");
	}
}

static void put_patch(
	FILE *out, const struct code *code, const char *path, const struct lines *gone)
{
	const unsigned all = line_of(code, code->bytes) -
			     (code->bytes > 0 && code->text[code->bytes - 1] == '\n');
	const unsigned first = gone->first > CONTEXT ? gone->first - CONTEXT : 1;
	const unsigned last = gone->last + CONTEXT < all ? gone->last + CONTEXT : all;
	const unsigned kept = last - first + 1 - (gone->last - gone->first + 1);

	fprintf(out, "--- a%s\n+++ b%s\n@@ -%u,%u +%u,%u @@\n", path, path, first, last - first + 1,
		kept ? first : first - 1, kept);
	put_lines(out, code, first, gone->first, ' ');
	put_lines(out, code, gone->first, gone->last + 1, '-');
	put_lines(out, code, gone->last + 1, last + 1, ' ');
}

/* False where no statement was found. */
static bool write_patch(
	FILE *out, struct code *code, const char *path, unsigned line, const char *call)
{
	struct lines gone = {0};

	code->bare = malloc(code->bytes + 1);
	if (!code->bare)
		return false;
	memcpy(code->bare, code->text, code->bytes + 1);
	if (make_bare(code))
		gone = find_statement(code, line, call);
	free(code->bare);
	if (gone.first)
		put_patch(out, code, path, &gone);
	return gone.first != 0;
}

const char *tfs_patch_without(struct tfs_region *region, const struct tfs_model_frame *frame,
	const char *call, uint64_t until_ns)
{
	struct tfs_source_file file;
	const char *made = NULL;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;
	bool found;

	if (!call || !tfs_source_load(frame, until_ns, &file))
		return NULL;
	/* A path that is no line of a patch's. */
	out = tfs_source_is_c(file.path) && !strpbrk(file.path, "\t\r\n")
		      ? open_memstream(&text, &bytes)
		      : NULL;
	if (out) {
		struct code code = {.text = file.text, .bytes = file.bytes};

		found = write_patch(out, &code, file.path, frame->line, call);
		found = !fclose(out) && found && bytes <= MOST_PATCH_BYTES;
		made = found ? tfs_region_string(region, text) : NULL;
	}
	free(text);
	free(file.text);
	return made;
}
