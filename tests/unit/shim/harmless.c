/* SPDX-License-Identifier: MIT */
/*
 * Which of the functions without a hook are harmless: of all that CUDA's libraries export just
 * those that a list names.
 *	unit-harmless harmless.txt EXPORTS...
 */
#include "shim/resolve/harmless.h"

#include <string.h>

#include "shim/record/hook.h"
#include "shim/resolve/driver.h"
#include "tests/test.h"

static char *listed[2048];
static size_t listed_count;

static bool is_other(struct tfs_function *function, void *argument)
{
	const char **name = argument;

	if (strcmp(function->name, *name) != 0)
		return true;
	*name = NULL;
	return false;
}

static bool is_hooked(const char *name)
{
	tfs_lookup_each(is_other, &name);
	return !name;
}

/* '+' harmless, '-' not so, 0 not listed. */
static char mark_of(const char *name)
{
	for (size_t i = 0; i < listed_count; i++)
		if (strcmp(listed[i] + (*listed[i] == '-'), name) == 0)
			return *listed[i] == '-' ? '-' : '+';
	return 0;
}

/* The next line's first word; NULL at the end. */
static char *next_word(FILE *file)
{
	static char line[512];

	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, " \t\n")] = '\0';
		if (*line != '\0' && *line != '#')
			return line;
	}
	return NULL;
}

static void read_list(const char *path)
{
	FILE *file = fopen(path, "r");

	TEST_NEED(file);
	for (char *word; (word = next_word(file));) {
		TEST_NEED(listed_count < sizeof(listed) / sizeof(listed[0]));
		listed[listed_count++] = strdup(word);
	}
	fclose(file);
}

static size_t compare(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t count = 0;

	TEST_NEED(file);
	for (char *word; (word = next_word(file));) {
		if (!tfs_driver_is_cuda(word) || is_hooked(word))
			continue;
		count++;
		if (!TEST_EQ(tfs_is_harmless(word), mark_of(word) == '+'))
			printf("that is %s\n", word);
	}
	fclose(file);
	return count;
}

int main(int count, char **words)
{
	size_t compared = 0;

	if (count < 3)
		return 2;
	read_list(words[1]);
	for (int i = 2; i < count; i++)
		compared += compare(words[i]);
	/* What older libraries export too. */
	for (size_t i = 0; i < listed_count; i++) {
		const char *name = listed[i] + (*listed[i] == '-');

		if (!TEST_EQ(is_hooked(name), false) ||
			!TEST_EQ(tfs_is_harmless(name), *listed[i] != '-'))
			printf("that is %s\n", name);
	}
	TEST_EQ(tfs_is_harmless("cudaMalloc_of_the_future"), false);
	TEST_EQ(tfs_is_harmless(""), false);
	printf("%zu functions without a hook compared with %zu lines\n", compared, listed_count);
	TEST_TRUE(compared > 1300 && listed_count > 500);
	return test_result();
}
