/* SPDX-License-Identifier: MIT */
/* Lines of Python instructions, from each kind of table; versions whose layout is not known. */
#include "shim/python/lines.h"

#include "tests/test.h"

static void test_lnotab(void)
{
	const unsigned char table[] = {0, 1, 4, 2, 6, 0xff, 2, 3};
	const int lines[] = {11, 11, 13, 13, 13, 12, 15, 15};

	for (int i = 0; i < 8; i++)
		TEST_EQ(tfs_python_line(TFS_PYTHON_LNOTAB, table, sizeof(table), 10, 2 * i),
			lines[i]);
	TEST_EQ(tfs_python_line(TFS_PYTHON_LNOTAB, table, 0, 10, 4), 10);
	TEST_EQ(tfs_python_line(TFS_PYTHON_LNOTAB, table, 3, 10, 100), 11);
}

/* Bytes 0 to 3 are line 11, 4 and 5 none, 6 to 9 line 8. */
static void test_ranges(void)
{
	const unsigned char table[] = {4, 1, 2, 0x80, 4, 0xfd};
	const int lines[] = {11, 11, 0, 8, 8, 0};

	for (int i = 0; i < 6; i++)
		TEST_EQ(tfs_python_line(TFS_PYTHON_RANGES, table, sizeof(table), 10, 2 * i),
			lines[i]);
	TEST_EQ(tfs_python_line(TFS_PYTHON_RANGES, table, sizeof(table) - 1, 10, 8), 0);
}

/* The forms of PEP 657: long, one line, short, without columns, none. */
static void test_locations(void)
{
	const unsigned char table[] = {
		0xf0, 0x02, 0x00, 0x01, 0x01, /* long, 1 instruction, line + 1 */
		0xd9, 0x04, 0x05,             /* one line, 2 instructions, line + 1 */
		0x80, 0x11,                   /* short, 1 instruction */
		0xe8, 0x43, 0x02,             /* no columns, 1 instruction, line - 65 */
		0xf8,                         /* none, 1 instruction */
		0xe0, 0x01, 0x02,             /* one line, 1 instruction, line + 2 */
	};
	const int lines[] = {101, 102, 102, 102, 37, 0, 39, 0};

	for (int i = 0; i < 8; i++)
		TEST_EQ(tfs_python_line(TFS_PYTHON_LOCATIONS, table, sizeof(table), 100, 2 * i),
			lines[i]);
	TEST_EQ(tfs_python_line(TFS_PYTHON_LOCATIONS, table, sizeof(table), 100, -2), 0);
	/* Wherever a table is cut, nothing behind its end is read. */
	for (size_t bytes = 0; bytes < sizeof(table); bytes++)
		TEST_EQ(tfs_python_line(TFS_PYTHON_LOCATIONS, table, bytes, 100, 1000), 0);
}

static void test_layouts(void)
{
	const unsigned char nothing[64] = {0};
	struct tfs_python_layout layout;
	unsigned known = 0;

	for (uint32_t minor = 0; minor < 30; minor++)
		if (tfs_python_layout((3u << 8 | minor) << 16, nothing, sizeof(nothing), &layout)) {
			TEST_EQ(layout.version, 3u << 8 | minor);
			TEST_TRUE(minor >= 9 && minor <= 12);
			known++;
		}
	TEST_EQ(known, 4);
	TEST_TRUE(!tfs_python_layout(0, nothing, sizeof(nothing), &layout));
}

/* An interpreter that states its layout has it from there, and not where it has no global lock, or
 * says less than is needed. */
static void test_stated(void)
{
	struct {
		char cookie[8];
		uint64_t version;
		uint64_t free_threaded;
		uint64_t words[80];
	} runtime = {.cookie = "xdebugp"};
	struct tfs_python_layout layout;

	runtime.cookie[7] = 'y';
	for (uint32_t i = 0; i < 80; i++)
		runtime.words[i] = 2 * i;
	for (uint32_t minor = 13; minor < 20; minor++) {
		const uint32_t version = (3u << 8 | minor) << 16 | 0x0af0;
		const bool known = minor == 13 || minor == 14;

		runtime.version = version;
		runtime.free_threaded = 0;
		TEST_EQ(tfs_python_layout(version, &runtime, sizeof(runtime), &layout), known);
		runtime.free_threaded = 1;
		TEST_TRUE(!tfs_python_layout(version, &runtime, sizeof(runtime), &layout));
		runtime.free_threaded = 0;
		TEST_TRUE(!tfs_python_layout(version, &runtime, 24 + 60 * 8, &layout));
		runtime.version = version + (1u << 16);
		TEST_TRUE(!tfs_python_layout(version, &runtime, sizeof(runtime), &layout));
	}
	runtime.version = (3u << 8 | 14u) << 16;
	TEST_TRUE(tfs_python_layout((uint32_t)runtime.version, &runtime, sizeof(runtime), &layout));
	TEST_EQ(layout.thread.frame, 2 * 23);
	TEST_EQ(layout.code.stamp, 2 * 41 + 24);
	TEST_EQ(layout.owner, 2 * 33);
	TEST_EQ(layout.frame.bytes, 2 * 33 + 8);
	runtime.cookie[0] = 'y';
	TEST_TRUE(
		!tfs_python_layout((uint32_t)runtime.version, &runtime, sizeof(runtime), &layout));
}

int main(void)
{
	test_lnotab();
	test_ranges();
	test_locations();
	test_layouts();
	test_stated();
	return test_result();
}
