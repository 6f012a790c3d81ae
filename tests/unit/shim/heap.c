/* SPDX-License-Identifier: MIT */
/* The shim's heap: the program's own knows nothing of it, nor do its threads and its children. */
#include "shim/base/heap.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/trace/recording.h"

#define THREADS 4
#define CHILDREN 100
#define FAILING 30
#define LARGE ((size_t)64 << 20)

/* The name by which jemalloc asks. */
void *heap_mmap(void *, size_t, int, int, int, off_t) __asm__("mmap");

static unsigned percent; /* of jemalloc's requests that are refused */
static uint64_t state;

static _Atomic bool stop;
static _Atomic unsigned long rounds;

void *heap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	if ((state >> 33) % 100 < percent) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

static bool is_zero(const char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != 0)
			return false;
	return true;
}

static size_t program_has(void)
{
	const struct mallinfo2 now = mallinfo2();

	return now.uordblks + now.hblkhd;
}

/* What is freed is dirty, and what comes next is zeroed all the same. */
static void check_blocks(void)
{
	static const size_t sizes[] = {1, 16, 100, 4096, 20000, 1 << 20, 9 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (int round = 0; round < 3; round++) {
			char *one = tfs_heap_alloc(sizes[i]);
			char *other = tfs_heap_alloc(sizes[i]);

			TEST_NEED(one && other);
			TEST_TRUE(one + sizes[i] <= other || other + sizes[i] <= one);
			TEST_EQ((uintptr_t)one % 16, 0);
			TEST_TRUE(is_zero(one, sizes[i]) && is_zero(other, sizes[i]));
			memset(one, 0x55, sizes[i]);
			memset(other, 0xaa, sizes[i]);
			tfs_heap_free(one, sizes[i]);
			tfs_heap_free(other, sizes[i]);
		}
	}
	tfs_heap_free(NULL, 100);
}

static long resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	TEST_NEED(file && fscanf(file, "%*s %ld", &pages) == 1);
	fclose(file);
	return pages;
}

/* Large tables are mostly never written to. */
static void check_large(void)
{
	const long before = resident_pages();
	char *memory = tfs_heap_alloc(LARGE);

	TEST_NEED(memory);
	memory[LARGE / 2] = 1;
	TEST_IN(resident_pages() - before, 0, 600);
	tfs_heap_free(memory, LARGE);
	errno = EDOM;
	TEST_TRUE(!tfs_heap_alloc((size_t)1 << 60));
	TEST_EQ(errno, EDOM);
}

static void *work(void *seed)
{
	size_t bytes = (size_t)(uintptr_t)seed;

	while (!atomic_load(&stop)) {
		bytes = bytes * 7 % 100003 + 1;
		char *memory = tfs_heap_alloc(bytes);
		if (!TEST_TRUE(memory))
			break;
		memory[0] = memory[bytes - 1] = 1;
		tfs_heap_free(memory, bytes);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* AddressSanitizer's runtime locks what a thread's end needs, and frees it in a child of fork
 * alone. */
#ifdef __SANITIZE_ADDRESS__
enum { RAW_COPIES = 0 };
#else
enum { RAW_COPIES = 1 };
#endif

/* Whatever the parent's threads were at, a child comes through. */
static void check_child(bool raw, void *held)
{
	const pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	int status = 0;

	if (child == 0) {
		alarm(20);
		tfs_heap_free(tfs_heap_alloc(100), 100);
		tfs_heap_free(held, 100);
		pthread_exit(NULL);
	}
	TEST_NEED(child > 0 && waitpid(child, &status, 0) == child);
	if (!TEST_EQ(status, 0))
		exit(1);
}

static void *use_once(void *nothing)
{
	char *memory = tfs_heap_alloc(100);

	TEST_TRUE(memory);
	tfs_heap_free(memory, 100);
	return nothing;
}

/* Of a thread that is no more nothing is looked at: where its variables were, nothing is mapped. */
static void check_ended(void)
{
	const size_t bytes = (size_t)1 << 20;
	pthread_attr_t attributes;
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		void *stack = mmap(
			NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		TEST_NEED(stack != MAP_FAILED);
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stack, bytes);
		TEST_NEED(pthread_create(&thread, &attributes, use_once, NULL) == 0);
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attributes);
		munmap(stack, bytes);
	}
}

static void check_threads(void)
{
	pthread_t threads[THREADS];
	void *held = tfs_heap_alloc(100);

	atomic_store(&stop, false);
	for (uintptr_t i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
	while (atomic_load(&rounds) < 1000)
		sched_yield();
	for (int i = 0; i < CHILDREN; i++)
		check_child(RAW_COPIES && i % 2 != 0, held);
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tfs_heap_free(held, 100);
}

static void *use_short(void *nothing)
{
	void *memory[50] = {0};

	(void)nothing;
	for (size_t i = 0; i < 300; i++) {
		const size_t at = i * 7 % 50, bytes = at * at * 97 + 1;

		tfs_heap_free(memory[at], bytes);
		memory[at] = tfs_heap_alloc(bytes);
		if (memory[at] && TEST_TRUE(is_zero(memory[at], bytes)))
			memset(memory[at], 0x33, bytes);
	}
	return NULL;
}

/* A process in which memory is short, from the heap's start on, for one thread and for the next. */
static int run_short(const char *seed)
{
	pthread_t other;

	alarm(20);
	state = strtoull(seed, NULL, 10);
	percent = 100;
	if (state % 4 == 0)
		tfs_heap_free(tfs_heap_alloc(1), 1);
	percent = (unsigned)(state % 3 + 1) * 25;
	TEST_NEED(pthread_create(&other, NULL, use_short, NULL) == 0);
	pthread_join(other, NULL);
	use_short(NULL);
	return test_result();
}

static void check_short(void)
{
	for (int i = 0; i < FAILING; i++) {
		char seed[16];
		int status = 0;

		snprintf(seed, sizeof(seed), "%d", i);
		const pid_t child = fork();
		if (child == 0) {
			execl("/proc/self/exe", "heap", seed, (char *)NULL);
			_exit(127);
		}
		TEST_NEED(child > 0 && waitpid(child, &status, 0) == child);
		if (!TEST_EQ(status, 0))
			printf("  with %s\n", seed);
	}
}

int main(int count, char **words)
{
	if (count > 1)
		return run_short(words[1]);
	recording_start();
	const size_t before = program_has();
	check_blocks();
	void *kept = tfs_heap_alloc(5000);
	TEST_EQ(program_has(), before);
	check_large();
	fflush(stdout);
	check_short();
	check_ended();
	check_threads();
	if (!RAW_COPIES)
		printf("without raw copies of the process: AddressSanitizer\n");
	tfs_heap_free(kept, 5000);
	unlink(tfs_recording.path);
	rmdir(recording_folder);
	return test_result();
}
