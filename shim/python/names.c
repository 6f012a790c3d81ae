/* SPDX-License-Identifier: MIT */
#include "shim/python/names.h"

#include <string.h>

#include "shim/python/lines.h"
#include "shim/python/memory.h"

#define LONGEST_COPY 4096u /* of a line table */
#define LINE_ROOM 12u      /* ":" and a line's digits */

/* Bytes that are nearly always enough: one system call copies them all. */
#define MOST_OF_CODE 80u /* from the first line's number to the address of the line table */
#define LIKELY_FILE 128u
#define LIKELY_NAME 64u
#define LIKELY_TABLE 512u

/* Writes a character as UTF-8; returns how many bytes. `out` has room for four. */
static size_t put_character(uint32_t character, char *out)
{
	if (character < 0x80) {
		out[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char)(0xc0 | character >> 6);
		out[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char)(0xe0 | character >> 12);
		out[1] = (char)(0x80 | (character >> 6 & 0x3f));
		out[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | character >> 18);
	out[1] = (char)(0x80 | (character >> 12 & 0x3f));
	out[2] = (char)(0x80 | (character >> 6 & 0x3f));
	out[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

/* A byte of a file's name that is not UTF-8 is half a surrogate pair to Python. */
static bool is_surrogate(uint32_t character)
{
	return character >= 0xd800 && character < 0xe000;
}

static bool read_characters(struct tfs_python_copies *copies, uint64_t from, uint64_t length,
	uint32_t width, char *out, size_t room)
{
	size_t used = 0;

	for (uint64_t i = 0; i < length && used + 4 < room; i++) {
		uint32_t character = 0;

		if (!tfs_python_read(copies, from + i * width, &character, width))
			return false;
		used += put_character(is_surrogate(character) ? '?' : character, out + used);
	}
	out[used] = '\0';
	return true;
}

/* A str: https://peps.python.org/pep-0393/ */
static bool read_text(const struct tfs_python *python, struct tfs_python_copies *copies,
	uint64_t address, char *out, size_t room)
{
	const struct tfs_python_layout *layout = &python->layout;
	uint64_t length;
	uint32_t state;

	if (!tfs_python_read_address(copies, address + TFS_PYTHON_SIZE, &length) ||
		!tfs_python_read(copies, address + layout->text.state, &state, sizeof(state)))
		return false;
	const uint32_t width = state >> 2 & 7;
	const bool compact = (state >> 5 & 1) != 0;
	const bool ascii = (state >> 6 & 1) != 0;
	if (!compact || (width != 1 && width != 2 && width != 4))
		return false;
	if (!ascii)
		return read_characters(
			copies, address + layout->text.compact, length, width, out, room);
	if (length >= room)
		length = room - 1;
	if (length > 0 && !tfs_python_read(copies, address + layout->text.ascii, out, length))
		return false;
	out[length] = '\0';
	return true;
}

static int64_t offset_of(
	const struct tfs_python_layout *layout, const struct tfs_python_frame *frame)
{
	if (layout->scale != 0)
		return (int64_t)(int32_t)frame->instruction * layout->scale;
	return (int64_t)(frame->instruction - frame->code - layout->code.instructions);
}

/* The line of the frame's instruction; 0 = it has none. */
static bool read_line(const struct tfs_python *python, struct tfs_python_copies *copies,
	const struct tfs_python_frame *frame, uint64_t table, int *out_line)
{
	const struct tfs_python_layout *layout = &python->layout;
	unsigned char copy[LONGEST_COPY];
	uint64_t bytes;
	int first;

	if (!tfs_python_read_address(copies, table + TFS_PYTHON_SIZE, &bytes) ||
		!tfs_python_read(
			copies, frame->code + layout->code.first_line, &first, sizeof(first)))
		return false;
	table += TFS_PYTHON_BYTES;
	if (copies && bytes > sizeof(copy))
		bytes = sizeof(copy);
	const char *found = tfs_python_look(copies, table, copy, bytes);
	if (!found)
		return false;
	*out_line = tfs_python_line(layout->lines, (const unsigned char *)found, bytes, first,
		offset_of(layout, frame));
	return true;
}

/* ":" and the number. */
static void put_line(char *out, uint32_t line)
{
	char digits[LINE_ROOM];
	uint32_t count = 0;

	do
		digits[count++] = (char)('0' + line % 10);
	while ((line /= 10) != 0);
	*out++ = ':';
	while (count > 0)
		*out++ = digits[--count];
	*out = '\0';
}

/* Whatever the names need is announced before the first of it is read. */
bool tfs_python_names(const struct tfs_python *python, struct tfs_python_copies *copies,
	const struct tfs_python_frame *frame, struct tfs_python_names *out)
{
	const struct tfs_python_layout *layout = &python->layout;
	uint64_t file;
	uint64_t name;
	uint64_t table;
	int line;

	if (tfs_python_first_thread())
		copies = NULL;
	tfs_python_read_ahead(copies, frame->code + layout->code.first_line, MOST_OF_CODE);
	if (!tfs_python_read_address(copies, frame->code + layout->code.file, &file) ||
		!tfs_python_read_address(copies, frame->code + layout->code.name, &name) ||
		!tfs_python_read_address(copies, frame->code + layout->code.table, &table))
		return false;
	tfs_python_read_ahead(copies, file, layout->text.ascii + LIKELY_FILE);
	tfs_python_read_ahead(copies, name, layout->text.ascii + LIKELY_NAME);
	tfs_python_read_ahead(copies, table, TFS_PYTHON_BYTES + LIKELY_TABLE);
	if (!read_text(python, copies, name, out->function, sizeof(out->function)) ||
		!read_text(python, copies, file, out->place, sizeof(out->place) - LINE_ROOM) ||
		!read_line(python, copies, frame, table, &line))
		return false;
	if (line > 0)
		put_line(out->place + strlen(out->place), (uint32_t)line);
	else
		out->place[0] = '\0';
	return true;
}
