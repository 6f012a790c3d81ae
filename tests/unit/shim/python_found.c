/* SPDX-License-Identifier: MIT */
/* Interpreters that come and go: each is found, and which version it is. Arguments: pairs of a
 * version's second number and a library that looks like it. */
#include <dlfcn.h>

#include "shim/python/interpreter.h"
#include "tests/test.h"

#define MOST 4

int main(int count, char **words)
{
	TEST_TRUE(!tfs_python_find() && !tfs_python_found());
	TEST_TRUE(count > 2);
	for (int i = 1; i + 1 < count; i += 2) {
		const unsigned minor = (unsigned)atoi(words[i]);
		void *library = dlopen(words[i + 1], RTLD_NOW);

		TEST_NEED(library);
		const struct tfs_python *python = tfs_python_find();
		/* A fifth one is not looked into. */
		if (i > 2 * MOST) {
			TEST_TRUE(!python);
			continue;
		}
		TEST_NEED(python);
		/* Of one whose layout is not known nothing is said. */
		TEST_EQ(python->layout.version, minor < 13 ? 3u << 8 | minor : 0);
		TEST_TRUE(python->runtime == dlsym(library, "_PyRuntime"));
		TEST_EQ(python->runtime_bytes, 64 * sizeof(uint64_t));
		TEST_EQ(python->code_type, (uint64_t)(uintptr_t)dlsym(library, "PyCode_Type"));
		TEST_TRUE(python->start <= python->code_type && python->code_type < python->end);
		TEST_TRUE(tfs_python_find() == python && tfs_python_found() == python);
		TEST_EQ(dlclose(library), 0);
		TEST_TRUE(!tfs_python_find());
	}
	return test_result();
}
