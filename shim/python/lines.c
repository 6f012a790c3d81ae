/* SPDX-License-Identifier: MIT */
#include "shim/python/lines.h"

#include <stdbool.h>

#define UNIT 2 /* bytes of an instruction */

/* Pairs of an increment of the offset and one, signed, of the line. */
static int by_lnotab(const unsigned char *table, size_t bytes, int line, int64_t offset)
{
	int64_t at = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (signed char)table[i + 1];
	}
	return line;
}

/* Pairs of a range's length and what its line is further; -128 is a range without a line. */
static int by_ranges(const unsigned char *table, size_t bytes, int line, int64_t offset)
{
	int64_t end = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		const int further = (signed char)table[i + 1];

		end += table[i];
		if (further != -128)
			line += further;
		if (end > offset)
			return further == -128 ? 0 : line;
	}
	return 0;
}

struct reading {
	const unsigned char *next;
	const unsigned char *end;
};

/* Six bits to a byte, the lowest first; the seventh says that more follow. */
static unsigned read_number(struct reading *from)
{
	unsigned value = 0;

	for (unsigned shift = 0; from->next < from->end && shift < 30; shift += 6) {
		const unsigned byte = *from->next++;

		value |= (byte & 63u) << shift;
		if ((byte & 64u) == 0)
			break;
	}
	return value;
}

static int read_signed(struct reading *from)
{
	const unsigned value = read_number(from);

	return (value & 1) != 0 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Entries begin with a byte that has the top bit, a form and a length in instructions. Columns are
 * passed over: the next such byte ends the entry. */
static int by_locations(const unsigned char *table, size_t bytes, int line, int64_t offset)
{
	struct reading from = {table, table + bytes};
	int64_t end = 0;

	while (from.next < from.end) {
		const unsigned head = *from.next++;
		const unsigned form = head >> 3 & 15u;
		const bool has_line = form != 15;

		end += (int64_t)((head & 7u) + 1) * UNIT;
		if (form == 13 || form == 14)
			line += read_signed(&from);
		else if (form >= 10 && form <= 12)
			line += (int)form - 10;
		if (end > offset)
			return has_line ? line : 0;
		while (from.next < from.end && (*from.next & 0x80u) == 0)
			from.next++;
	}
	return 0;
}

int tfs_python_line(enum tfs_python_lines kind, const unsigned char *table, size_t bytes,
	int first_line, int64_t offset)
{
	if (offset < 0)
		return 0;
	switch (kind) {
	case TFS_PYTHON_LNOTAB:
		return by_lnotab(table, bytes, first_line, offset);
	case TFS_PYTHON_RANGES:
		return by_ranges(table, bytes, first_line, offset);
	default:
		return by_locations(table, bytes, first_line, offset);
	}
}
