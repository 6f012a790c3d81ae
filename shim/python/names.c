/* SPDX-License-Identifier: MIT */
#include "shim/python/names.h"

#include <stdio.h>
#include <string.h>

#include "shim/python/lines.h"
#include "shim/python/memory.h"

#define LONGEST_COPY 4096u /* of a line table */
#define LINE_ROOM 12u      /* ":" and a line's digits */

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
	const struct tfs_python_frame *frame, int *out_line)
{
	const struct tfs_python_layout *layout = &python->layout;
	unsigned char copy[LONGEST_COPY];
	uint64_t table;
	uint64_t bytes;
	int first;

	if (!tfs_python_read_address(copies, frame->code + layout->code.table, &table) ||
		!tfs_python_read_address(copies, table + TFS_PYTHON_SIZE, &bytes) ||
		!tfs_python_read(
			copies, frame->code + layout->code.first_line, &first, sizeof(first)))
		return false;
	table += TFS_PYTHON_BYTES;
	if (copies) {
		if (bytes > sizeof(copy))
			bytes = sizeof(copy);
		if (!tfs_python_copy(copies, table, copy, bytes))
			return false;
	}
	*out_line = tfs_python_line(layout->lines, copies ? copy : (const unsigned char *)table,
		bytes, first, offset_of(layout, frame));
	return true;
}

bool tfs_python_names(const struct tfs_python *python, const struct tfs_python_frame *frame,
	struct tfs_python_names *out)
{
	struct tfs_python_copies own;
	struct tfs_python_copies *copies = tfs_python_first_thread() ? NULL : &own;
	uint64_t file;
	uint64_t name;
	int line;

	if (copies)
		tfs_python_copies_init(copies);
	if (!tfs_python_read_address(copies, frame->code + python->layout.code.file, &file) ||
		!tfs_python_read_address(copies, frame->code + python->layout.code.name, &name) ||
		!read_text(python, copies, name, out->function, sizeof(out->function)) ||
		!read_text(python, copies, file, out->place, sizeof(out->place) - LINE_ROOM) ||
		!read_line(python, copies, frame, &line))
		return false;
	if (line > 0)
		snprintf(out->place + strlen(out->place), LINE_ROOM, ":%d", line);
	else
		out->place[0] = '\0';
	return true;
}
