/* SPDX-License-Identifier: MIT */
/* Memory that another thread may have released meanwhile is read, or it is said that it cannot be.
 */
#include "shim/python/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/test.h"

#define PAGE 4096u
#define PAGES 20u

static struct tfs_python_copies copies;
static uint32_t calls;

/* In the place of the C library's. */
ssize_t process_vm_writev(pid_t process, const struct iovec *from, unsigned long from_count,
	const struct iovec *to, unsigned long to_count, unsigned long flags)
{
	calls++;
	return syscall(SYS_process_vm_writev, process, from, from_count, to, to_count, flags);
}

static void look_at(const char *memory, uint32_t bytes)
{
	char got[3000];

	TEST_TRUE(tfs_python_read(&copies, (uint64_t)memory, got, bytes));
	TEST_EQ(memcmp(got, memory, bytes), 0);
}

static void begin(void)
{
	tfs_python_copies_begin(&copies);
	calls = 0;
}

static void test_present(const char *memory)
{
	begin();
	look_at(memory + 700, 3000);
	look_at(memory + 1000, 2000);
	TEST_EQ(calls, 1);
	/* More than there is room for. */
	for (uint32_t i = 0; i < (PAGES - 1) * PAGE / TFS_PYTHON_BLOCK; i++)
		look_at(memory + i * TFS_PYTHON_BLOCK, 8);
	for (uint32_t i = 0; i < PAGES - 1; i++)
		look_at(memory + i * PAGE + 10, 300);
	begin();
}

/* What the latest stacks needed comes by one call, and is as it is now; what was announced too. */
static void test_again(char *memory)
{
	for (uint32_t round = 0; round < 3; round++) {
		begin();
		for (uint32_t i = 0; i < PAGES - 1; i++)
			memory[i * PAGE + round]++;
		for (uint32_t i = 0; i < PAGES - 1; i++)
			look_at(memory + i * PAGE, 8);
		TEST_TRUE(round == 0 || calls == 1);
	}
	begin();
	for (uint32_t i = 0; i < PAGES - 1; i++)
		tfs_python_read_ahead(&copies, (uint64_t)memory + i * PAGE + 2000, 8);
	for (uint32_t i = 0; i < PAGES - 1; i++)
		look_at(memory + i * PAGE + 2000, 8);
	TEST_EQ(calls, 1);
	/* Not for ever, lest all that was ever needed be copied. */
	for (uint32_t round = 0; round < 10; round++) {
		begin();
		look_at(memory, 8);
		TEST_EQ(calls, 1);
	}
	TEST_EQ(copies.count, 1);
}

static void test_absent(const char *memory)
{
	const uint64_t end = (uint64_t)memory + (PAGES - 1) * PAGE;
	char got[16];

	begin();
	TEST_TRUE(!tfs_python_read(&copies, end, got, 1));
	TEST_TRUE(!tfs_python_read(&copies, end - 8, got, sizeof(got)));
	TEST_TRUE(tfs_python_read(&copies, end - 8, got, 8));
	TEST_TRUE(!tfs_python_read(&copies, 0, got, 1));
	TEST_TRUE(!tfs_python_read(&copies, UINT64_MAX - 4, got, sizeof(got)));
	TEST_TRUE(!tfs_python_read(NULL, 8, got, 1));
	/* What is not there keeps nothing else from being copied. */
	begin();
	tfs_python_read_ahead(&copies, end, 8);
	tfs_python_read_ahead(&copies, UINT64_MAX - 4096, 8);
	tfs_python_read_ahead(&copies, TFS_PYTHON_END - 8, 16);
	tfs_python_read_ahead(&copies, UINT64_C(1) << 47, 8);
	TEST_TRUE(!tfs_python_read(&copies, TFS_PYTHON_END - 8, got, 16));
	for (uint32_t i = 0; i < PAGES - 1; i++) {
		tfs_python_read_ahead(&copies, (uint64_t)memory + i * PAGE, 8);
		tfs_python_read_ahead(&copies, end + 256 * i, 8);
	}
	for (uint32_t i = 0; i < PAGES - 1; i++)
		look_at(memory + i * PAGE, 8);
	TEST_TRUE(!tfs_python_read(&copies, end, got, 1));
}

/* Memory that was there is gone at the next stack. */
static void test_released(void)
{
	char *memory =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[8];

	TEST_TRUE(memory != MAP_FAILED);
	begin();
	for (uint32_t i = 0; i < 3; i++)
		look_at(memory + i * PAGE, 8);
	TEST_EQ(munmap(memory + PAGE, PAGE), 0);
	for (uint32_t round = 0; round < 2; round++) {
		begin();
		look_at(memory, 8);
		TEST_TRUE(!tfs_python_read(&copies, (uint64_t)memory + PAGE, got, sizeof(got)));
		look_at(memory + 2 * PAGE, 8);
	}
	munmap(memory, PAGE);
	munmap(memory + 2 * PAGE, PAGE);
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
	test_again(memory);
	test_absent(memory);
	test_released();
	test_threads();
	return test_result();
}
