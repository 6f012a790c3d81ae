/* SPDX-License-Identifier: MIT */
#include "reports/patch/statement.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define NOWHERE SIZE_MAX

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t behind_blanks(const struct tfs_c_text *code, size_t at, size_t end)
{
	while (at < end && isspace((unsigned char)code->bare[at]))
		at++;
	return at;
}

/* Behind the word, which may be NULL for any name; NOWHERE where it is not there. */
static size_t behind_word(const struct tfs_c_text *code, size_t at, size_t end, const char *word)
{
	size_t behind = at = behind_blanks(code, at, end);

	while (behind < end && in_name(code->bare[behind]))
		behind++;
	if (behind == at || (word && (strlen(word) != behind - at ||
					     memcmp(code->bare + at, word, behind - at))))
		return NOWHERE;
	return behind;
}

static size_t behind_char(const struct tfs_c_text *code, size_t at, size_t end, char c)
{
	at = at == NOWHERE ? NOWHERE : behind_blanks(code, at, end);
	return at != NOWHERE && at < end && code->bare[at] == c ? at + 1 : NOWHERE;
}

/* Functions that change nothing; others might. */
static bool is_pure(const struct tfs_c_text *code, size_t from, size_t to)
{
	static const char *const names[] = {"sizeof", "size", "data"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (to - from == strlen(names[i]) &&
			!memcmp(code->bare + from, names[i], to - from))
			return true;
	return false;
}

/* Is the character at `at` part of what changes something? */
static bool changes(const struct tfs_c_text *code, size_t at)
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
static size_t behind_arguments(const struct tfs_c_text *code, size_t at, size_t end)
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
static bool is_check(const struct tfs_c_text *code, size_t from, size_t to)
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
static bool only_calls(const struct tfs_c_text *code, size_t at, size_t end, const char *call)
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
static bool stands_alone(const struct tfs_c_text *code, size_t from, size_t semicolon)
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

static void pass_directive(const struct tfs_c_text *code, size_t at, struct search *s)
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

struct tfs_lines tfs_statement_find(const struct tfs_c_text *code, unsigned line, const char *call)
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
				return (struct tfs_lines){s.first, s.line};
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
	return (struct tfs_lines){0};
}
