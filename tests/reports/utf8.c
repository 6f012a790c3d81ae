/* SPDX-License-Identifier: MIT */
/* Names are bytes that somebody else chose: what of them is a character, and which are shown by
 * their numbers. */
#include "reports/formats/utf8.h"
#include "tests/test.h"

static void check_characters(void)
{
	static const struct {
		const char *text;
		uint32_t code;
		unsigned length;
	} cases[] = {
		{"a", 'a', 1},
		{"\x7f", 0x7f, 1},
		{"\xc2\x80", 0x80, 2},
		{"\xdf\xbf", 0x7ff, 2},
		{"\xe0\xa0\x80", 0x800, 3},
		{"\xef\xbf\xbf", 0xffff, 3},
		{"\xed\x9f\xbf", 0xd7ff, 3},
		{"\xee\x80\x80", 0xe000, 3},
		{"\xf0\x90\x80\x80", 0x10000, 4},
		{"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
		/* A middle alone, too long, half a pair, too large, and cut. */
		{"\x80", TFS_UTF8_BAD, 1},
		{"\xc1\xbf", TFS_UTF8_BAD, 1},
		{"\xe0\x9f\xbf", TFS_UTF8_BAD, 1},
		{"\xf0\x8f\xbf\xbf", TFS_UTF8_BAD, 1},
		{"\xed\xa0\x80", TFS_UTF8_BAD, 1},
		{"\xed\xbf\xbf", TFS_UTF8_BAD, 1},
		{"\xf4\x90\x80\x80", TFS_UTF8_BAD, 1},
		{"\xf5\x80\x80\x80", TFS_UTF8_BAD, 1},
		{"\xc2", TFS_UTF8_BAD, 1},
		{"\xe2\x80", TFS_UTF8_BAD, 1},
		{"\xf0\x90\x80z", TFS_UTF8_BAD, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t code = 1;

		TEST_EQ(tfs_utf8_next(cases[i].text, &code), cases[i].length);
		if (!TEST_EQ(code, cases[i].code))
			printf("  case %zu\n", i);
	}
	TEST_EQ(tfs_utf8_count("a\xc2\xb5z\xf0\x90\x80\x80", 8), 4);
	TEST_EQ(tfs_utf8_count("abc", 2), 2);
}

static void check_hidden(void)
{
	static const uint32_t ranges[][2] = {{0x80, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}};

	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		bool wanted = false;

		for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
			wanted |= code >= ranges[i][0] && code <= ranges[i][1];
		if (!TEST_EQ(tfs_utf8_hides(code), wanted))
			printf("  U+%04X\n", code);
	}
}

int main(void)
{
	check_characters();
	check_hidden();
	return test_result();
}
