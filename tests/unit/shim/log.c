/* SPDX-License-Identifier: MIT */
/* Lines of the log: nothing in a name reaches a terminal as a command, or turns the text round; a
 * line is whole or cut, never two; the program's errno stays. */
#include "shim/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/test.h"

static int ends[2];
static char line[2 * TFS_LOG_BYTES];

/* What the line was that was written last, without its end. */
static const char *written(void)
{
	const ssize_t got = read(ends[0], line, sizeof(line) - 1);

	if (got <= 0)
		return NULL;
	line[got] = '\0';
	char *end = strchr(line, '\n');
	TEST_TRUE(end && end == line + got - 1);
	if (end)
		*end = '\0';
	return line;
}

static const char *of(const char *name)
{
	tfs_log_say("%s", name);
	const char *text = written();

	TEST_TRUE(text && strncmp(text, "tfshim: ", 8) == 0);
	return text ? text + 8 : NULL;
}

/* As UTF-8. */
static const char *character(unsigned code)
{
	static char text[4];

	if (code < 0x800)
		snprintf(text, sizeof(text), "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	else
		snprintf(text, sizeof(text), "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
			0x80 | (code & 0x3f));
	return text;
}

static void test_hidden(void)
{
	unsigned count = 0;

	for (unsigned code = 0x80; code < 0x3000; code++) {
		const bool hides =
			code <= 0x9f || code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
			(code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f);
		char want[16];

		count += hides;
		snprintf(want, sizeof(want), "[U+%04X]", code);
		TEST_STR(of(character(code)), hides ? want : character(code));
	}
	TEST_EQ(count, 32 + 1 + 2 + 5 + 10);
	TEST_STR(of("a\033[31mb\177\r\n\tc"), "a?[31mb????c");
	/* A character that is cut short is left as it is. */
	TEST_STR(of("\xe2\x80"), "\xe2\x80");
	TEST_STR(of("\xc2"), "\xc2");
}

static void test_long(void)
{
	char name[2 * TFS_LOG_BYTES];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	const char *text = of(name);
	TEST_TRUE(text && strspn(text, "x") == strlen(text));
	TEST_IN(text ? strlen(text) : 0, TFS_LOG_BYTES - 50, TFS_LOG_BYTES);
	/* Where each takes more room, too. */
	for (size_t i = 0; i + 3 < sizeof(name); i += 3)
		memcpy(name + i, "\xe2\x80\xae", 3);
	text = of(name);
	TEST_IN(text ? strlen(text) : 0, TFS_LOG_BYTES - 50, TFS_LOG_BYTES);
	TEST_TRUE(text && strcmp(text + strlen(text) - 8, "[U+202E]") == 0);
}

static void test_levels(void)
{
	tfs_log_limit = TFS_LOG_WARN;
	tfs_log(TFS_LOG_INFO, "too much");
	tfs_log(TFS_LOG_WARN, "%d", 5);
	const char *text = written();
	TEST_TRUE(text && strncmp(text, "tfshim: warn log.c:", 19) == 0);
	TEST_STR(text ? text + strlen(text) - 3 : NULL, ": 5");
}

/* What cannot be written is counted, and the program's errno is its own. */
static void test_dropped(void)
{
	errno = ERANGE;
	tfs_log_say("fine");
	TEST_EQ(errno, ERANGE);
	TEST_STR(written(), "tfshim: fine");
	TEST_EQ(tfs_log_dropped(), 0);
	close(STDERR_FILENO);
	tfs_log_say("lost");
	TEST_EQ(errno, ERANGE);
	TEST_EQ(tfs_log_dropped(), 1);
	tfs_log_nowhere = true;
	tfs_log_say("lost");
	TEST_EQ(tfs_log_dropped(), 1);
}

int main(void)
{
	TEST_NEED(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	TEST_NEED(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	test_hidden();
	test_long();
	test_levels();
	test_dropped();
	return test_result();
}
