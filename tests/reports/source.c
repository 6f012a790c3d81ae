/* SPDX-License-Identifier: MIT */
/* Lines of source around a call site: which are read, and of which files. */
#include "reports/patch/source.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static const uint64_t long_ago = UINT64_C(1000000000) * 1000000000u, now = UINT64_MAX;
static struct tfs_arena arena;
static char folder[] = "/tmp/source-XXXXXX";

static void write_file(const char *name, const char *text, size_t bytes)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	TEST_EQ(file != NULL, 1);
	if (file)
		fwrite(text, 1, bytes, file);
	if (file)
		fclose(file);
}

static struct tfs_model_source read_at(const char *name, unsigned line, uint64_t until_ns)
{
	return tfs_source_read(&arena,
		&(struct tfs_model_frame){.file = name, .folder = folder, .line = line}, until_ns);
}

static void check_lines(void)
{
	static const char text[] = "one\n\tif (two)\n\t\tthree();\r\n\n\t\tfive();\nsix";
	struct tfs_model_source source;

	write_file("a.c", text, sizeof(text) - 1);
	source = read_at("a.c", 3, now);
	TEST_EQ(source.count, 5);
	TEST_EQ(source.first, 1);
	TEST_EQ(source.marked, 3);
	TEST_STR(source.lines[0], "one");
	TEST_STR(source.lines[2], "        three();");
	source = read_at("a.c", 5, now);
	TEST_EQ(source.first, 3);
	TEST_EQ(source.count, 4);
	TEST_STR(source.lines[3], "six");
	source = read_at("a.c", 1, now);
	TEST_EQ(source.first, 1);
	TEST_EQ(read_at("a.c", 6, now).count, 3);
	TEST_EQ(read_at("a.c", 7, now).count, 0);
	TEST_EQ(read_at("a.c", 0, now).count, 0);
}

static void check_indented(void)
{
	static const char text[] = "\t\tone();\n\n\t\t  two();\n";
	const struct tfs_model_source source =
		(write_file("b.cu", text, sizeof(text) - 1), read_at("b.cu", 1, now));

	TEST_EQ(source.count, 3);
	TEST_STR(source.lines[0], "one();");
	TEST_STR(source.lines[1], "");
	TEST_STR(source.lines[2], "  two();");
}

static void check_long(void)
{
	char text[1000];
	struct tfs_model_source source;

	memset(text, 'x', sizeof(text));
	write_file("c.cpp", text, sizeof(text));
	source = read_at("c.cpp", 1, now);
	TEST_EQ(source.count, 1);
	TEST_EQ(strlen(source.lines[0]), 163);
	TEST_STR(source.lines[0] + 160, "...");
}

/* What a recording names may be a secret, or no file at all. */
static void check_refused(void)
{
	char path[64];

	write_file("key", "secret\n", 7);
	TEST_EQ(read_at("key", 1, now).count, 0);
	write_file("d.c", "a\0b\n", 4);
	TEST_EQ(read_at("d.c", 1, now).count, 0);
	TEST_EQ(read_at("none.c", 1, now).count, 0);
	TEST_EQ(read_at("a.c", 1, long_ago).count, 0);
	snprintf(path, sizeof(path), "%s/pipe.c", folder);
	TEST_EQ(mkfifo(path, 0600), 0);
	TEST_EQ(read_at("pipe.c", 1, now).count, 0);
	TEST_EQ(tfs_source_read(&arena, &(struct tfs_model_frame){.file = "a.c", .line = 1}, now)
			.count,
		0);
	TEST_EQ(tfs_source_read(&arena, NULL, now).count, 0);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(folder))
		return 1;
	check_lines();
	check_indented();
	check_long();
	check_refused();
	tfs_arena_finish(&arena);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) ? 1 : test_result();
}
