/* SPDX-License-Identifier: MIT */
/* Statements that a patch takes away, and what it leaves alone. */
#include "reports/patch/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rules/support/arena.h"
#include "tests/test.h"

static char folder[] = "/tmp/patch-XXXXXX";
static struct tfs_arena arena;

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
		&arena, &frame, call, ((uint64_t)time(NULL) + 10) * UINT64_C(1000000000));
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
		"\tgpuErrchk(cudaDeviceSynchronize());",
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
		"\tcudaDeviceSynchronize(n <<= 1);",
		"\tcudaDeviceSynchronize(n >>= 1);",
		"\tcudaDeviceSynchronize((*next)());",
		"\tcudaDeviceSynchronize(fns[i]());",
		"\tcudaDeviceSynchronize(take<float>(pool));",
		"\tcudaDeviceSynchronize(later.get());",
		"\tRETURN(cudaDeviceSynchronize());",
		"\tcuda_return(cudaDeviceSynchronize());",
		"\tfinish(cudaDeviceSynchronize());",
		"\tcount_check(cudaDeviceSynchronize());",
		"\tcudaDeviceSynchronize(); /* waits,\n\t and */",
		"\tcudaDeviceSynchronize(); // waits \\\n\t and",
		"\tcudaDeviceSynchronize(); // w\xc3\xa4its",
		"\tcudaDeviceSynchronize();\r",
		"\tcudaDeviceSynchronize();\f",
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
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x)\n\t\tcug();\n}\n", 3, "cug"));
	TEST_TRUE(!patch_of("a.c", "{\n\tif (x) {\n\t} else\n\t\tcug();\n}\n", 4, "cug"));
	TEST_TRUE(!patch_of("a.c", "{\nagain:\n\tcug();\n}\n", 3, "cug"));
	TEST_TRUE(!patch_of(
		"a.c", "{\n\tif (x)\n#ifdef X\n\t\tcug();\n#endif\n\th();\n}\n", 4, "cug"));
	TEST_TRUE(!patch_of(
		"a.c", "{\n\tif (x)\n#ifdef X\n\t\th();\n#endif\n\tcug();\n}\n", 6, "cug"));
	/* One branch has braces. */
	TEST_TRUE(!patch_of("a.c",
		"{\n\tif (x)\n#ifdef A\n\t{ h(); }\n#else\n\tcug();\n#endif\n\th();\n}\n", 6,
		"cug"));
	TEST_TRUE(patch_of("a.c",
		"{\n\tif (x)\n#ifdef A\n\t{ h(); }\n#else\n\th();\n#endif\n\th();\n}\nvoid f(void)\n{\n\tcug();\n}\n",
		12, "cug"));
	TEST_TRUE(!patch_of("a.c", "{\n#pragma omp critical\n\tcug();\n\th();\n}\n", 3, "cug"));
	TEST_TRUE(!patch_of("a.c", "{\n#  pragma omp critical\n\tcug();\n\th();\n}\n", 3, "cug"));
	TEST_TRUE(patch_of("a.c", "{\n#pragma once\n}\n{\n\tcug();\n}\n", 5, "cug"));
	TEST_TRUE(!patch_of("a.c", "#define G \\\n\tcug();\n", 2, "cug"));
	TEST_TRUE(!patch_of("a.c", "#define G \\\r\n\tcug();\r\n", 2, "cug"));
	TEST_TRUE(
		!patch_of("a.c", "{\n\tCHECK(cug(\n#ifdef X\n\t\t1\n#endif\n\t));\n}\n", 2, "cug"));
	TEST_TRUE(patch_of("a.c", "{\n\tif (x) {\n\t\tcug();\n\t}\n}\n", 3, "cug"));
	TEST_TRUE(patch_of("a.c", "{\n\tif (x)\n\t\th();\n\tcug();\n}\n", 4, "cug"));
	TEST_TRUE(patch_of("a.c", "{\n#ifdef X\n\tcug();\n#endif\n}\n", 3, "cug"));
	TEST_TRUE(!patch_of("a.cc", "s = R\"(\";\n\tcug();\n\")\";\n", 2, "cug"));
	/* A definition is no call. */
	TEST_TRUE(!patch_of("a.c", "int\ncug(void);\n", 2, "cug"));
}

/* Several lines, by any of them; with what stands around. */
static void test_text(void)
{
	static const char text[] = "1\n;2\n;3\n;\n\tCHECK(\n\t\tcug(1, /* ; */\n\t\t2));\n5;\n6;\n";
	char want[300];

	for (unsigned line = 5; line <= 7; line++) {
		const char *patch = patch_of("b.cu", text, line, "cug");

		snprintf(want, sizeof(want),
			"--- a%s/b.cu\t\n+++ b%s/b.cu\t\n@@ -2,8 +2,5 @@\n ;2\n ;3\n ;\n-\tCHECK(\n"
			"-\t\tcug(1, /* ; */\n-\t\t2));\n 5;\n 6;\n",
			folder, folder);
		if (!TEST_TRUE(patch) || !TEST_STR(patch, want))
			printf("  line %u\n", line);
	}
	TEST_TRUE(!patch_of("b.cu", text, 4, "cug"));
	TEST_TRUE(!patch_of("b.cu", text, 8, "cug"));
	TEST_TRUE(!patch_of("b.cu", text, 6, "cuh"));
	TEST_TRUE(!patch_of("b.cu", text, 6, NULL));
	TEST_TRUE(!patch_of("b.py", text, 6, "cug"));
	/* No function of CUDA's. */
	TEST_TRUE(!patch_of("a.c", "verify();\n", 1, "verify"));
	/* A name that would be another line, and one with a blank. */
	TEST_TRUE(patch_of("my b.c", "cug();\n", 1, "cug"));
	TEST_TRUE(!patch_of("a\n+++ b.c", "cug();\n", 1, "cug"));
	/* The last line has no end; and nothing is left. */
	snprintf(want, sizeof(want),
		"--- a%s/a.c\t\n+++ b%s/a.c\t\n@@ -1,1 +0,0 @@\n-cug();\n\\ No newline at end of file\n",
		folder, folder);
	TEST_STR(patch_of("a.c", "cug();", 1, "cug"), want);
}

/* Changed since the program started; or not there. */
static void test_files(void)
{
	const struct tfs_model_frame frame = {.file = "c.c", .folder = folder, .line = 1};
	char path[80];

	snprintf(path, sizeof(path), "%s/c.c", folder);
	TEST_TRUE(!tfs_patch_without(&arena, &frame, "cug", UINT64_MAX));
	write_file(path, "cug();\n");
	TEST_TRUE(!tfs_patch_without(&arena, &frame, "cug", UINT64_C(1000000000)));
	TEST_TRUE(tfs_patch_without(&arena, &frame, "cug", UINT64_MAX));
	TEST_TRUE(!tfs_patch_without(&arena, NULL, "cug", UINT64_MAX));
}

int main(void)
{
	static const char *const names[] = {
		"a.c", "a.cc", "b.cu", "b.py", "c.c", "my b.c", "a\n+++ b.c"};

	TEST_NEED(mkdtemp(folder));
	test_statements();
	test_body();
	test_text();
	test_files();
	tfs_arena_finish(&arena);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[80];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
	TEST_EQ(rmdir(folder), 0);
	return test_result();
}
