/* SPDX-License-Identifier: MIT */
#include "reports/patch/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILE_BYTES (4 << 20)
#define MOST_LINE_BYTES 160u
#define TAB 4u
#define BEHIND (TFS_SOURCE_LINES / 2)

static bool named_like_source(const char *file)
{
	static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h",
		".hh", ".hpp", ".hxx", ".inl", ".py", ".C", ".f90", ".F90", ".rs"};
	const char *ending = strrchr(file, '.');

	for (size_t i = 0; ending && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcmp(ending, endings[i]))
			return true;
	return false;
}

bool tfs_source_is_c(const char *path)
{
	const char *ending = strrchr(path, '.');

	return named_like_source(path) && strcmp(ending, ".py") && strcasecmp(ending, ".f90") &&
	       strcmp(ending, ".rs");
}

static FILE *open_source(
	const struct tfs_model_frame *frame, uint64_t until_ns, char path[PATH_MAX])
{
	const bool whole = frame->file[0] == '/';
	struct stat about;
	FILE *file;
	int fd;

	if ((!whole && !frame->folder) || !named_like_source(frame->file) ||
		snprintf(path, PATH_MAX, "%s%s%s", whole ? "" : frame->folder, whole ? "" : "/",
			frame->file) >= PATH_MAX)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size > MOST_FILE_BYTES ||
		(uint64_t)about.st_mtim.tv_sec >= until_ns / 1000000000u) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

bool tfs_source_load(
	const struct tfs_model_frame *frame, uint64_t until_ns, struct tfs_source_file *out_file)
{
	char path[PATH_MAX];
	FILE *file =
		frame && frame->file && frame->line ? open_source(frame, until_ns, path) : NULL;
	size_t room = 0;
	ssize_t bytes;

	if (!file)
		return false;
	out_file->text = NULL;
	/* The first zero ends it: there is none in a text. */
	bytes = getdelim(&out_file->text, &room, '\0', file);
	fclose(file);
	if (bytes <= 0 || strlen(out_file->text) != (size_t)bytes ||
		!realpath(path, out_file->path)) {
		free(out_file->text);
		return false;
	}
	out_file->bytes = (size_t)bytes;
	return true;
}

/* With spaces for tabs, and without what ends the line. */
static char *plain(struct tfs_arena *arena, const char *line, size_t bytes)
{
	char *text = tfs_arena_alloc(arena, MOST_LINE_BYTES + sizeof("..."), 1);
	size_t used = 0, at = 0;

	if (!text)
		return NULL;
	for (; at < bytes && line[at] != '\n' && line[at] != '\r'; at++) {
		const size_t wide = line[at] == '\t' ? TAB - used % TAB : 1;

		if (used + wide > MOST_LINE_BYTES)
			break;
		memset(text + used, line[at] == '\t' ? ' ' : line[at], wide);
		used += wide;
	}
	if (at < bytes && line[at] != '\n' && line[at] != '\r')
		strcpy(text + used, "...");
	return text;
}

static void unindent(char *const *lines, size_t count)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		const size_t indent = strspn(lines[i], " ");

		if (lines[i][indent] && indent < least)
			least = indent;
	}
	for (size_t i = 0; i < count; i++) {
		const size_t length = strlen(lines[i]), gone = least < length ? least : length;

		memmove(lines[i], lines[i] + gone, length - gone + 1);
	}
}

/* Reads lines from `first` on; returns how many, 0 where one is no text. */
static size_t read_lines(struct tfs_arena *arena, FILE *file, unsigned first, char **lines)
{
	char *line = NULL;
	size_t room = 0, count = 0;
	ssize_t bytes;

	for (unsigned number = 1; count < TFS_SOURCE_LINES; number++) {
		bytes = getline(&line, &room, file);
		if (bytes < 0)
			break;
		if (memchr(line, '\0', (size_t)bytes)) {
			count = 0;
			break;
		}
		if (number >= first)
			lines[count++] = plain(arena, line, (size_t)bytes);
	}
	free(line);
	return count;
}

struct tfs_model_source tfs_source_read(
	struct tfs_arena *arena, const struct tfs_model_frame *frame, uint64_t until_ns)
{
	struct tfs_model_source source = {.count = 0};
	char path[PATH_MAX];
	char **lines;
	FILE *file =
		frame && frame->file && frame->line ? open_source(frame, until_ns, path) : NULL;

	if (!file)
		return source;
	lines = tfs_arena_alloc(arena, TFS_SOURCE_LINES, sizeof(*lines));
	source.first = frame->line > BEHIND ? frame->line - BEHIND : 1;
	source.count = lines ? read_lines(arena, file, source.first, lines) : 0;
	fclose(file);
	if (arena->failed || source.first + source.count <= frame->line)
		return (struct tfs_model_source){.count = 0};
	unindent(lines, source.count);
	source.lines = (const char *const *)lines;
	source.marked = frame->line;
	return source;
}
