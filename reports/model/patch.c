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

/* A file, and the same with blanks for comments, literals and directives, of which the # stays, and
 * for the ends of lines in them. */
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
	memset(code->bare + from, ' ', to - from);
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
	static const char *const names[] = {"sizeof", "size", "data"};

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
		return next != '=' &&
		       (!strchr("=!<>", before) ||
			       (strchr("<>", before) && code->bare[at - 2] == before));
	if (c == '+' || c == '-')
		return next == c;
	if (c != '(')
		return false;
	while (isspace((unsigned char)code->bare[to - 1]))
		to--;
	/* Whatever was reckoned there may be called. */
	if (strchr(")]>", code->bare[to - 1]))
		return true;
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

/* Is it named like what checks a call's result? Others may count it, or return. */
static bool is_check(const struct code *code, size_t from, size_t to)
{
	static const char *const parts[] = {"check", "err", "safe", "must", "assert", "need", "try",
		"ok", "call", "cuda", "cublas", "cudnn", "gpu"};
	char name[64] = "";

	if (to - from >= sizeof(name))
		return false;
	for (size_t i = from; i < to; i++)
		name[i - from] = (char)tolower((unsigned char)code->bare[i]);
	if (strstr(name, "ret") || strstr(name, "count"))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* CALL(...); with a cast to void or without, or CHECK(CALL(...)); */
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
	inner = behind_word(code, at, end, NULL);
	if (inner == NOWHERE || !is_check(code, behind_blanks(code, at, end), inner))
		return false;
	inner = behind_char(code, inner, end, '(');
	if (inner == NOWHERE)
		return false;
	inner = behind_word(code, inner, end, call);
	if (inner == NOWHERE)
		return false;
	inner = behind_arguments(code, inner, end);
	inner = inner == NOWHERE ? NOWHERE : behind_char(code, inner, end, ')');
	return inner != NOWHERE && behind_blanks(code, inner, end) == end;
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
	return blanks_only(code->text, begin, from) &&
	       blanks_only(code->bare, semicolon + 1, end) &&
	       (end == code->bytes || code->bare[end] == '\n');
}

/* Where a search for statements is. */
struct search {
	size_t from;      /* where the statement begins; NOWHERE between two */
	unsigned line;    /* this one */
	unsigned first;   /* the statement's */
	unsigned parens;  /* and brackets that are open */
	unsigned braces;  /* likewise */
	bool pragma;      /* one is ahead of the statement */
	bool spoilt;      /* a directive is within a statement, of which any may be a part up to */
	unsigned outside; /* the brace that leaves so many open */
};

static void pass_directive(const struct code *code, size_t at, struct search *s)
{
	const char *word = code->text + at + 1;

	s->pragma |= !strncmp(word + strspn(word, " \t"), "pragma", strlen("pragma"));
	if (s->from != NOWHERE && !s->spoilt) {
		s->spoilt = true;
		s->outside = s->braces > 0 ? s->braces - 1 : 0;
	}
}

static void pass_brace(char c, struct search *s)
{
	s->braces += c == '{';
	s->braces -= s->braces > 0 && c == '}';
	s->spoilt = s->spoilt && s->braces > s->outside;
}

/* Of a statement at the line that does nothing but the call. */
static struct lines find_statement(const struct code *code, unsigned line, const char *call)
{
	struct search s = {.from = NOWHERE, .line = 1};

	for (size_t at = 0; at < code->bytes; s.line += code->text[at++] == '\n') {
		const char c = code->bare[at];

		if (isspace((unsigned char)c))
			continue;
		if (s.parens == 0 && c && strchr(";{}#", c)) {
			if (c == ';' && s.from != NOWHERE && s.first <= line && line <= s.line &&
				!s.pragma && !s.spoilt && only_calls(code, s.from, at, call) &&
				stands_alone(code, s.from, at))
				return (struct lines){s.first, s.line};
			if (c == '#')
				pass_directive(code, at, &s);
			else
				s.pragma = false;
			if (c == '{' || c == '}')
				pass_brace(c, &s);
			s.from = NOWHERE;
			continue;
		}
		s.first = s.from == NOWHERE ? s.line : s.first;
		s.from = s.from == NOWHERE ? at : s.from;
		s.parens += c == '(' || c == '[';
		s.parens -= s.parens > 0 && (c == ')' || c == ']');
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
	size_t to = begin_of(code, first);

	for (unsigned line = first; line < behind; line++) {
		const char *end = memchr(code->text + to, '\n', code->bytes - to);
		const size_t from = to;

		to = end ? (size_t)(end - code->text) + 1 : code->bytes;

		if (from == to)
			return;
		fprintf(out, "%c%.*s%s", mark, (int)(to - from), code->text + from,
			code->text[to - 1] == '\n' ? "" : "\n\\ No newline at end of file\n");
	}
}

static unsigned count_lines(const struct code *code)
{
	unsigned lines = code->bytes > 0 && code->text[code->bytes - 1] != '\n';

	for (size_t i = 0; i < code->bytes; i++)
		lines += code->text[i] == '\n';
	return lines;
}

static void put_patch(
	FILE *out, const struct code *code, const char *path, const struct lines *gone)
{
	const unsigned all = count_lines(code);
	const unsigned first = gone->first > CONTEXT ? gone->first - CONTEXT : 1;
	const unsigned last = gone->last + CONTEXT < all ? gone->last + CONTEXT : all;
	const unsigned kept = last - first + 1 - (gone->last - gone->first + 1);

	/* Behind a tab, names may have blanks. */
	fprintf(out, "--- a%s\t\n+++ b%s\t\n@@ -%u,%u +%u,%u @@\n", path, path, first,
		last - first + 1, kept ? first : first - 1, kept);
	put_lines(out, code, first, gone->first, ' ');
	put_lines(out, code, gone->first, gone->last + 1, '-');
	put_lines(out, code, gone->last + 1, last + 1, ' ');
}

/* Formats for people show other bytes in their own way, and the patch would fit no more. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((*text < ' ' && *text != '\t' && *text != '\n') || *text > '~')
			return false;
	return true;
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

	/* A recording may name anything. */
	if (!call || strncmp(call, "cu", 2) || !tfs_source_load(frame, until_ns, &file))
		return NULL;
	out = tfs_source_is_c(file.path) && is_plain(file.path) && !strpbrk(file.path, "\t\n")
		      ? open_memstream(&text, &bytes)
		      : NULL;
	if (out) {
		struct code code = {.text = file.text, .bytes = file.bytes};

		found = write_patch(out, &code, file.path, frame->line, call);
		found = !fclose(out) && found && bytes <= MOST_PATCH_BYTES && is_plain(text);
		made = found ? tfs_region_string(region, text) : NULL;
	}
	free(text);
	free(file.text);
	return made;
}
