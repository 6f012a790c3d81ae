/* SPDX-License-Identifier: MIT */
/* Memory that another thread may have released meanwhile is read, or it is said that it cannot be.
 */
#include "shim/python/memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include "tests/test.h"

#define PAGE 4096u
#define PAGES 20u

static struct tfs_python_copies copies;

static void test_present(const char *memory)
{
	char got[3000];

	tfs_python_copies_init(&copies);
	TEST_TRUE(tfs_python_read(&copies, (uint64_t)memory + 700, got, sizeof(got)));
	TEST_EQ(memcmp(got, memory + 700, sizeof(got)), 0);
	/* 700 to 3700: four blocks, which need not be copied again. */
	TEST_EQ(copies.used, 4);
	TEST_TRUE(tfs_python_read(&copies, (uint64_t)memory + 1, got, 2000));
	TEST_EQ(copies.used, 4);
	/* More than there is room for. */
	for (uint32_t i = 0; i < PAGES - 1; i++) {
		TEST_TRUE(tfs_python_read(&copies, (uint64_t)memory + i * PAGE, got, 8));
		TEST_EQ(memcmp(got, memory + i * PAGE, 8), 0);
	}
}

static void test_absent(const char *memory)
{
	const uint64_t end = (uint64_t)memory + (PAGES - 1) * PAGE;
	char got[16];

	tfs_python_copies_init(&copies);
	TEST_TRUE(!tfs_python_read(&copies, end, got, 1));
	TEST_TRUE(!tfs_python_read(&copies, end - 8, got, sizeof(got)));
	TEST_TRUE(tfs_python_read(&copies, end - 8, got, 8));
	TEST_TRUE(!tfs_python_read(&copies, 0, got, 1));
	TEST_TRUE(!tfs_python_read(&copies, UINT64_MAX - 4, got, sizeof(got)));
	TEST_TRUE(!tfs_python_read(NULL, 8, got, 1));
}

static void *first(void *out)
{
	*(bool *)out = tfs_python_first_thread();
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread;
	bool other = true;

	for (int i = 0; i < 2; i++) {
		TEST_EQ(pthread_create(&thread, NULL, first, &other), 0);
		TEST_EQ(pthread_join(thread, NULL), 0);
		TEST_TRUE(!other);
		TEST_TRUE(tfs_python_first_thread());
	}
}

int main(void)
{
	char *memory = mmap(
		NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	TEST_TRUE(memory != MAP_FAILED);
	for (uint32_t i = 0; i < PAGES * PAGE; i++)
		memory[i] = (char)(i % 251);
	TEST_EQ(munmap(memory + (PAGES - 1) * PAGE, PAGE), 0);
	test_present(memory);
	test_absent(memory);
	test_threads();
	return test_result();
}
