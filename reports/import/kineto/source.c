/* SPDX-License-Identifier: MIT */
#include "reports/import/kineto/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUFFER (256u << 10)
#define MOST_BYTES (16u << 20) /* of a value that is kept */

/* Where in a value the scan is. */
struct scan {
	uint32_t depth;
	bool text, escaped, bare;
};

int tfs_source_open(struct tfs_source *source, const char *path)
{
	*source = (struct tfs_source){0};
	errno = 0;
	source->file = gzopen(path, "rb");
	source->buffer = malloc(BUFFER);
	if (source->file && source->buffer)
		return 0;
	int err = source->file || !errno ? -ENOMEM : -errno;
	tfs_source_close(source);
	return err;
}

void tfs_source_close(struct tfs_source *source)
{
	if (source->file)
		gzclose(source->file);
	free(source->buffer);
	free(source->value);
	*source = (struct tfs_source){0};
}

uint64_t tfs_source_offset(const struct tfs_source *source)
{
	return source->before + source->at;
}

bool tfs_source_packed(const struct tfs_source *source)
{
	return !gzdirect(source->file);
}

static bool fill(struct tfs_source *source)
{
	source->before += source->end;
	source->at = source->end = 0;
	int got = gzread(source->file, source->buffer, BUFFER);
	int error;

	gzerror(source->file, &error);
	if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
		source->why = error == Z_BUF_ERROR ? "the file ends early"
						   : "the compressed file is damaged";
	source->end = got > 0 ? (size_t)got : 0;
	return source->end > 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

int tfs_source_next(struct tfs_source *source)
{
	for (;;) {
		while (source->at < source->end && is_blank(source->buffer[source->at]))
			source->at++;
		if (source->at < source->end)
			return (unsigned char)source->buffer[source->at];
		if (!fill(source))
			return -1;
	}
}

bool tfs_source_pass(struct tfs_source *source, char wanted)
{
	if (tfs_source_next(source) != (unsigned char)wanted)
		return false;
	source->at++;
	return true;
}

/* Scans on; true where the value is over, of which `*at` is then the end. */
static bool scan_on(struct scan *scan, const char *bytes, size_t *at, size_t end)
{
	for (size_t i = *at; i < end; i++) {
		const char c = bytes[i];

		if (scan->text) {
			if (scan->escaped)
				scan->escaped = false;
			else if (c == '\\')
				scan->escaped = true;
			else if (c == '"')
				scan->text = false;
			if (scan->text || scan->depth)
				continue;
			*at = i + 1;
			return true;
		}
		if (scan->bare && (c == ',' || c == '}' || c == ']' || is_blank(c))) {
			*at = i;
			return true;
		}
		if (c == '"')
			scan->text = true;
		else if (c == '{' || c == '[')
			scan->depth++;
		else if ((c == '}' || c == ']') && !--scan->depth) {
			*at = i + 1;
			return true;
		}
	}
	*at = end;
	return false;
}

static int keep_bytes(struct tfs_source *source, const char *bytes, size_t count)
{
	if (source->bytes + count > MOST_BYTES) {
		source->why = "a value is longer than 16 MiB";
		return -EFBIG;
	}
	if (source->bytes + count >= source->room) {
		size_t room = (source->bytes + count + 1) * 2;
		char *value = realloc(source->value, room);

		if (!value)
			return -ENOMEM;
		source->value = value;
		source->room = room;
	}
	memcpy(source->value + source->bytes, bytes, count);
	source->bytes += count;
	source->value[source->bytes] = 0;
	return 0;
}

int tfs_source_value(struct tfs_source *source, bool keep)
{
	const int first = tfs_source_next(source);
	struct scan scan = {.bare = first != '{' && first != '[' && first != '"'};
	bool over = false;

	source->bytes = 0;
	if (first == ',' || first == ':' || first == '}' || first == ']') {
		source->why = "not JSON";
		return -EILSEQ;
	}
	while (!over) {
		if (source->at == source->end && !fill(source)) {
			source->why = source->why ? source->why : "the file ends early";
			return -EILSEQ;
		}
		size_t from = source->at;

		over = scan_on(&scan, source->buffer, &source->at, source->end);
		int err = keep ? keep_bytes(source, source->buffer + from, source->at - from) : 0;
		if (err)
			return err;
	}
	return 0;
}
