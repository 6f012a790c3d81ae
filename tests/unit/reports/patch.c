/* SPDX-License-Identifier: MIT */
/* Statements that a patch takes away, and what it leaves alone. */
#include "reports/model/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reports/model/region.h"
#include "tests/test.h"

static char folder[] = "/tmp/patch-XXXXXX";
static struct tfs_region region;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	TEST_NEED(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The patch of a file of this name with this text, for a program that started after it was written.
 */
static const char *patch_of(const char *name, const char *text, unsigned line, const char *call)
{
	const struct tfs_model_frame frame = {.file = name, .folder = folder, .line = line};
	char path[80];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	write_file(path, text);
	return tfs_patch_without(
		&region, &frame, call, ((uint64_t)time(NULL) + 10) * UINT64_C(1000000000));
}

/* The line that goes, of a text with the statement on line 3; or that there is no patch. */
static void check(const char *statement, const char *gone)
{
	char text[400], want[420];

	snprintf(text, sizeof(text), "void f(void)\n{\n%s\n\tg();\n}\n", statement);
	const char *patch = patch_of("a.c", text, 3, "cudaDeviceSynchronize");
	if (!gone) {
		if (!TEST_TRUE(!patch))
			printf("  %s: %s\n", statement, patch);
		return;
	}
	snprintf(want, sizeof(want), "\n-%s\n", gone);
	if (!TEST_TRUE(patch && strstr(patch, want)))
		printf("  %s: %s\n", statement, patch ? patch : "no patch");
}

static void test_statements(void)
{
	const char *const plain[] = {
		"\tcudaDeviceSynchronize();",
		"\tCHECK(cudaDeviceSynchronize());",
		"\t(void)cudaDeviceSynchronize();",
		"  CHECK ( cudaDeviceSynchronize ( ) ) ; /* waits */",
		"\tcudaDeviceSynchronize(); // \"waits",
		"\tcudaDeviceSynchronize(stream, (size_t)n * sizeof(float), v.size(), p->data());",
		"\tcudaDeviceSynchronize(a == b, a <= b, -1, a + b, \"x = y++;\", ';');",
	};
	const char *const others[] = {
		"\terr = cudaDeviceSynchronize();",
		"\tif (x) cudaDeviceSynchronize();",
		"\tif (cudaDeviceSynchronize()) ;",
		"\telse cudaDeviceSynchronize();",
		"\treturn (cudaDeviceSynchronize());",
		"\treturn cudaDeviceSynchronize();",
		"\tthrow (cudaDeviceSynchronize());",
		"\tcase 1: cudaDeviceSynchronize();",
		"\tagain: cudaDeviceSynchronize();",
		"\tdo cudaDeviceSynchronize(); while (x);",
		"\tfor (;;) cudaDeviceSynchronize();",
		"\tx ? cudaDeviceSynchronize() : 0;",
		"\tCHECK(cudaDeviceSynchronize(), \"waits\");",
		"\tCHECK(!cudaDeviceSynchronize());",
		"\tcudaDeviceSynchronize(i++);",
		"\tcudaDeviceSynchronize(--i);",
		"\tcudaDeviceSynchronize(n = 1);",
		"\tcudaDeviceSynchronize(n += 1);",
		"\tcudaDeviceSynchronize(next());",
		"\tcudaDeviceSynchronize([&] { return 1; }());",
		"\tcudaDeviceSynchronize(); cudaDeviceSynchronize();",
		"\tcudaDeviceSynchronize(); g();",
		"\t{ cudaDeviceSynchronize(); }",
		"\tcudaDeviceSynchronizeAll();",
		"\tcudaDeviceSynchronize() + 1;",
		"\tauto f = [] { cudaDeviceSynchronize(); };",
		"\t/* cudaDeviceSynchronize(); */",
		"\tputs(\"cudaDeviceSynchronize();\");",
		"#define WAIT cudaDeviceSynchronize();",
		"\tauto s = R\"(\n)\"; cudaDeviceSynchronize();",
		"\tchar c = ';",
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		check(plain[i], plain[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check(others[i], NULL);
}

/* A condition on the line before, whose body it is. */
static void test_body(void)
{
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x)\n\t\tg();\n}\n", 3, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x) {\n\t} else\n\t\tg();\n}\n", 4, "g"));
	TEST_TRUE(!patch_of("a.c", "{\nagain:\n\tg();\n}\n", 3, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x)\n#ifdef X\n\t\tg();\n#endif\n\th();\n}\n", 4, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x)\n#ifdef X\n\t\th();\n#endif\n\tg();\n}\n", 6, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n#pragma omp critical\n\tg();\n\th();\n}\n", 3, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n#  pragma omp critical\n\tg();\n\th();\n}\n", 3, "g"));
	TEST_TRUE(patch_of("a.c", "{\n#pragma once\n}\n{\n\tg();\n}\n", 5, "g"));
	TEST_TRUE(!patch_of("a.c", "#define G \\\n\tg();\n", 2, "g"));
	TEST_TRUE(!patch_of("a.c", "#define G \\\r\n\tg();\r\n", 2, "g"));
	TEST_TRUE(!patch_of("a.c", "{\n\tCHECK(g(\n#ifdef X\n\t\t1\n#endif\n\t));\n}\n", 2, "g"));
	TEST_TRUE(patch_of("a.c", "{\n\tif (x) {\n\t\tg();\n\t}\n}\n", 3, "g"));
	TEST_TRUE(patch_of("a.c", "{\n\tif (x)\n\t\th();\n\tg();\n}\n", 4, "g"));
	TEST_TRUE(patch_of("a.c", "{\n#ifdef X\n\tg();\n#endif\n}\n", 3, "g"));
	TEST_TRUE(!patch_of("a.cc", "s = R\"(\";\n\tg();\n\")\";\n", 2, "g"));
	/* A definition is no call. */
	TEST_TRUE(!patch_of("a.c", "int\ng(void);\n", 2, "g"));
}

/* Several lines, by any of them; with what stands around. */
static void test_text(void)
{
	static const char text[] = "1\n;2\n;3\n;\n\tCHECK(\n\t\tg(1, /* ; */\n\t\t2));\n5;\n6;\n";
	char want[300];

	for (unsigned line = 5; line <= 7; line++) {
		const char *patch = patch_of("b.cu", text, line, "g");

		snprintf(want, sizeof(want),
			"--- a%s/b.cu\n+++ b%s/b.cu\n@@ -2,8 +2,5 @@\n ;2\n ;3\n ;\n-\tCHECK(\n"
			"-\t\tg(1, /* ; */\n-\t\t2));\n 5;\n 6;\n",
			folder, folder);
		if (!TEST_TRUE(patch) || !TEST_STR(patch, want))
			printf("  line %u\n", line);
	}
	TEST_TRUE(!patch_of("b.cu", text, 4, "g"));
	TEST_TRUE(!patch_of("b.cu", text, 8, "g"));
	TEST_TRUE(!patch_of("b.cu", text, 6, "h"));
	TEST_TRUE(!patch_of("b.cu", text, 6, NULL));
	TEST_TRUE(!patch_of("b.py", text, 6, "g"));
	/* A name that would be another line. */
	TEST_TRUE(!patch_of("a\n+++ b.c", "g();\n", 1, "g"));
	/* The last line has no end; and nothing is left. */
	snprintf(want, sizeof(want),
		"--- a%s/a.c\n+++ b%s/a.c\n@@ -1,1 +0,0 @@\n-g();\n\\ No newline at end of file\n",
		folder, folder);
	TEST_STR(patch_of("a.c", "g();", 1, "g"), want);
}

/* Changed since the program started; or not there. */
static void test_files(void)
{
	const struct tfs_model_frame frame = {.file = "c.c", .folder = folder, .line = 1};
	char path[80];

	snprintf(path, sizeof(path), "%s/c.c", folder);
	TEST_TRUE(!tfs_patch_without(&region, &frame, "g", UINT64_MAX));
	write_file(path, "g();\n");
	TEST_TRUE(!tfs_patch_without(&region, &frame, "g", UINT64_C(1000000000)));
	TEST_TRUE(tfs_patch_without(&region, &frame, "g", UINT64_MAX));
	TEST_TRUE(!tfs_patch_without(&region, NULL, "g", UINT64_MAX));
}

int main(void)
{
	TEST_NEED(mkdtemp(folder));
	test_statements();
	test_body();
	test_text();
	test_files();
	tfs_region_finish(&region);
	return test_result();
}
