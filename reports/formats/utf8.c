/* SPDX-License-Identifier: MIT */
#include "reports/formats/utf8.h"

unsigned tfs_utf8_next(const char *text, uint32_t *out_code)
{
	const unsigned char *bytes = (const unsigned char *)text;
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned length = 1;
	uint32_t code = bytes[0];

	if (code < 0x80) {
		*out_code = code;
		return 1;
	}
	if (code >= 0xc2 && code < 0xe0) {
		length = 2;
		code &= 0x1f;
	} else if (code >= 0xe0 && code < 0xf0) {
		length = 3;
		code &= 0x0f;
	} else if (code >= 0xf0 && code < 0xf5) {
		length = 4;
		code &= 0x07;
	}
	for (unsigned i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80) {
			length = 1;
			break;
		}
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (length == 1 || code < smallest[length] || code > 0x10ffff ||
		(code >= 0xd800 && code < 0xe000)) {
		*out_code = TFS_UTF8_BAD;
		return 1;
	}
	*out_code = code;
	return length;
}

size_t tfs_utf8_count(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

bool tfs_utf8_hides(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {{0x80, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x180e, 0x180e},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};

	for (unsigned i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}
