/* SPDX-License-Identifier: MIT */
/* What a frame is called, from objects made up by a layout of our own: texts of each width, texts
 * that are longer than there is room for, a line or none. By the first thread and by another. */
#include "shim/python/names.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/test.h"

#define COMPACT (1u << 5)
#define ASCII (1u << 6)

/* Each at a place of its own, so that none can stand for another. */
static const struct tfs_python python = {
	.layout = {.version = 3u << 8 | 10,
		.scale = 2,
		.code = {.file = 8, .name = 24, .first_line = 40, .table = 48},
		.text = {.state = 24, .ascii = 28, .compact = 36},
		.lines = TFS_PYTHON_RANGES},
};

union text {
	struct {
		uint64_t unused[2], length;
		uint32_t state;
		char ascii[8], rest[5000];
	} it;
	char bytes[5040];
};

static union text function, file;
/* Two ranges: line 10, and none. */
static struct {
	uint64_t unused[2], length, also_unused;
	unsigned char bytes[4];
} table = {.length = 4, .bytes = {4, 0, 2, 0x80}};
static struct {
	uint64_t unused, file, also_unused, name, more_unused;
	int first_line;
	uint64_t table;
} code;
static struct tfs_python_names names;
static struct tfs_python_copies copies;

/* In the place of a sanitizer's, to which what a block covers beside these objects is a fault. */
ssize_t process_vm_writev(pid_t process, const struct iovec *from, unsigned long from_count,
	const struct iovec *to, unsigned long to_count, unsigned long flags)
{
	return syscall(SYS_process_vm_writev, process, from, from_count, to, to_count, flags);
}

/* `width`: of a character; 0 = ASCII. */
static void put(union text *text, uint32_t width, uint64_t length, uint32_t character)
{
	memset(text, 0x7f, sizeof(*text));
	text->it.length = length;
	text->it.state = COMPACT | (width == 0 ? ASCII | 1u << 2 : width << 2);
	char *to = text->bytes + (width == 0 ? 28 : 36);

	for (uint64_t i = 0; i < length; i++)
		memcpy(to + i * (width ? width : 1), &character, width ? width : 1);
}

static bool ask(uint64_t instruction)
{
	const struct tfs_python_frame frame = {
		.code = (uint64_t)(uintptr_t)&code, .instruction = instruction};

	memset(&names, 0x55, sizeof(names));
	tfs_python_copies_begin(&copies);
	return tfs_python_names(&python, &copies, &frame, &names);
}

static void test_lines(void)
{
	put(&function, 0, 3, 'f');
	put(&file, 0, 4, 'a');
	TEST_TRUE(ask(1));
	TEST_STR(names.function, "fff");
	TEST_STR(names.place, "aaaa:10");
	TEST_TRUE(ask(2));
	TEST_STR(names.function, "fff");
	TEST_STR(names.place, "");
}

/* As many characters as there is room for, and an end. */
static void test_long(void)
{
	for (uint32_t width = 0; width < 2; width++)
		for (uint64_t length = 250; length < 260; length++) {
			put(&function, width, length, 'f');
			put(&file, 0, 2000, 'a');
			TEST_TRUE(ask(0));
			TEST_EQ(strlen(names.function), width != 0 && length > 252 ? 252
							: length < 255             ? length
										   : 255);
			TEST_EQ(strspn(names.function, "f"), strlen(names.function));
			TEST_EQ(strspn(names.place, "a"), 1024 - 12 - 1);
			TEST_STR(names.place + 1024 - 12 - 1, ":10");
		}
}

static void test_widths(void)
{
	static const struct {
		uint32_t width, character;
		const char *text;
	} cases[] = {{1, 0x7f, "\x7f"}, {1, 0xe4, "\xc3\xa4"}, {2, 0x80, "\xc2\x80"},
		{2, 0x7ff, "\xdf\xbf"}, {2, 0x800, "\xe0\xa0\x80"}, {2, 0xd7ff, "\xed\x9f\xbf"},
		{2, 0xd800, "?"}, {2, 0xdfff, "?"}, {2, 0xe000, "\xee\x80\x80"},
		{4, 0xffff, "\xef\xbf\xbf"}, {4, 0x10000, "\xf0\x90\x80\x80"},
		{4, 0x1f600, "\xf0\x9f\x98\x80"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char twice[16];

		put(&function, cases[i].width, 2, cases[i].character);
		put(&file, 0, 1, 'a');
		snprintf(twice, sizeof(twice), "%s%s", cases[i].text, cases[i].text);
		TEST_TRUE(ask(0));
		TEST_STR(names.function, twice);
	}
}

/* Nothing is made of what cannot be a string. */
static void test_strange(void)
{
	put(&file, 0, 1, 'a');
	put(&function, 3, 1, 'f');
	TEST_TRUE(!ask(0));
	put(&function, 0, 1, 'f');
	function.it.state &= ~COMPACT;
	TEST_TRUE(!ask(0));
	code.name = 8;
	TEST_TRUE(!ask(0));
	code.name = (uint64_t)(uintptr_t)&function;
}

static void *test(void *unused)
{
	test_lines();
	test_long();
	test_widths();
	test_strange();
	return unused;
}

int main(void)
{
	pthread_t thread;

	code.file = (uint64_t)(uintptr_t)&file;
	code.name = (uint64_t)(uintptr_t)&function;
	code.first_line = 10;
	code.table = (uint64_t)(uintptr_t)&table;
	test(NULL);
	TEST_NEED(pthread_create(&thread, NULL, test, NULL) == 0);
	pthread_join(thread, NULL);
	return test_result();
}
