/* SPDX-License-Identifier: MIT */
#include "reports/patch/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/patch/source.h"
#include "reports/patch/statement.h"

#define CONTEXT 3u
#define MOST_PATCH_BYTES 4096u

/* The first byte of a line, or the end. */
static size_t begin_of(const struct tfs_c_text *code, unsigned line)
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
	FILE *out, const struct tfs_c_text *code, unsigned first, unsigned behind, char mark)
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

static unsigned count_lines(const struct tfs_c_text *code)
{
	unsigned lines = code->bytes > 0 && code->text[code->bytes - 1] != '\n';

	for (size_t i = 0; i < code->bytes; i++)
		lines += code->text[i] == '\n';
	return lines;
}

static void put_patch(
	FILE *out, const struct tfs_c_text *code, const char *path, const struct tfs_lines *gone)
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
	FILE *out, struct tfs_c_text *code, const char *path, unsigned line, const char *call)
{
	struct tfs_lines gone = {0};

	code->bare = malloc(code->bytes + 1);
	if (!code->bare)
		return false;
	memcpy(code->bare, code->text, code->bytes + 1);
	if (tfs_c_text_make_bare(code))
		gone = tfs_statement_find(code, line, call);
	free(code->bare);
	if (gone.first)
		put_patch(out, code, path, &gone);
	return gone.first != 0;
}

const char *tfs_patch_without(struct tfs_arena *arena, const struct tfs_model_frame *frame,
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
		struct tfs_c_text code = {.text = file.text, .bytes = file.bytes};

		found = write_patch(out, &code, file.path, frame->line, call);
		found = !fclose(out) && found && bytes <= MOST_PATCH_BYTES && is_plain(text);
		made = found ? tfs_arena_string(arena, text) : NULL;
	}
	free(text);
	free(file.text);
	return made;
}
