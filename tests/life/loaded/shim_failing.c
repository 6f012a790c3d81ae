/* SPDX-License-Identifier: MIT */
/*
 * A preload for tests, under the shim: what the shim, and nobody else, asks of the system fails at
 * random and is counted. SHIM_FAILING=PERCENT:SEED; or threads: no thread is to be had; or slow:
 * nothing fails, but in threads other than the first one an open file takes its time, so that
 * whoever closes it meanwhile is found out.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FAILING __attribute__((visibility("default")))

FAILING void *mmap64(void *, size_t, int, int, int, off64_t);
/* The name by which the shim's heap asks. */
FAILING void *heap_mmap(void *, size_t, int, int, int, off_t) __asm__("mmap");
FAILING int mprotect(void *, size_t, int);
FAILING ssize_t pwrite64(int, const void *, size_t, off64_t);
FAILING int open64(const char *, int, ...);
FAILING int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *restrict);

/* Found while loading: later, whoever asks the loader may wait for long. */
static struct {
	__typeof__(&mmap64) mmap;
	__typeof__(&mprotect) mprotect;
	__typeof__(&pwrite64) pwrite;
	__typeof__(&open64) open;
	__typeof__(&pthread_create) create;
} next;

static unsigned percent;
static uint64_t seed;
static bool slow;
static bool threads;
static uint64_t shim_start;
static uint64_t shim_end;
static atomic_ulong asked;
static atomic_ulong refused;

static int find_shim(struct dl_phdr_info *object, size_t bytes, void *nothing)
{
	(void)bytes;
	(void)nothing;
	if (!strstr(object->dlpi_name, "libtfshim.so"))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
			continue;
		shim_start = object->dlpi_addr + part->p_vaddr;
		shim_end = shim_start + part->p_memsz;
	}
	return 1;
}

/* Other libraries' constructors may come first. */
static void find_next(void)
{
	if (next.create)
		return;
	next.mmap = (__typeof__(next.mmap))dlsym(RTLD_NEXT, "mmap64");
	next.mprotect = (__typeof__(next.mprotect))dlsym(RTLD_NEXT, "mprotect");
	next.pwrite = (__typeof__(next.pwrite))dlsym(RTLD_NEXT, "pwrite64");
	next.open = (__typeof__(next.open))dlsym(RTLD_NEXT, "open64");
	next.create = (__typeof__(next.create))dlsym(RTLD_NEXT, "pthread_create");
}

__attribute__((constructor)) static void load(void)
{
	const char *text = getenv("SHIM_FAILING");

	find_next();
	dl_iterate_phdr(find_shim, NULL);
	slow = text && strcmp(text, "slow") == 0;
	threads = text && strcmp(text, "threads") == 0;
	if (!text || slow || threads)
		return;
	percent = (unsigned)atoi(text);
	seed = strchr(text, ':') ? strtoull(strchr(text, ':') + 1, NULL, 10) : 0;
}

__attribute__((destructor)) static void tell(void)
{
	if (asked != 0)
		fprintf(stderr, "tfshim-test: %lu of %lu requests refused\n", refused, asked);
}

static bool refuse(const void *caller)
{
	const uint64_t address = (uint64_t)(uintptr_t)caller;

	if (address < shim_start || address >= shim_end)
		return false;
	uint64_t mixed = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) +
			 atomic_fetch_add(&asked, 1) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed ^= mixed >> 31;
	mixed *= UINT64_C(0x94D049BB133111EB);
	if ((mixed >> 33) % 100 >= percent)
		return false;
	atomic_fetch_add(&refused, 1);
	return true;
}

FAILING void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	if (refuse(__builtin_return_address(0))) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	find_next();
	return next.mmap(address, bytes, protection, flags, fd, offset);
}

FAILING void *heap_mmap(
	void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (refuse(__builtin_return_address(0))) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	find_next();
	return next.mmap(address, bytes, protection, flags, fd, offset);
}

FAILING int mprotect(void *address, size_t bytes, int protection)
{
	if (refuse(__builtin_return_address(0))) {
		errno = ENOMEM;
		return -1;
	}
	find_next();
	return next.mprotect(address, bytes, protection);
}

/* The disk is full, has an error, or takes only a part, by turns. */
FAILING ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
	static atomic_uint turn;
	const struct timespec moment = {.tv_nsec = 2000000};

	find_next();
	if (refuse(__builtin_return_address(0))) {
		const unsigned now = atomic_fetch_add(&turn, 1) % 3;

		if (now == 2 && count > 1)
			return next.pwrite(fd, bytes, count / 2, offset);
		errno = now == 0 ? ENOSPC : EIO;
		return -1;
	}
	if (slow && gettid() != getpid())
		nanosleep(&moment, NULL);
	return next.pwrite(fd, bytes, count, offset);
}

FAILING int open64(const char *path, int flags, ...)
{
	va_list more;

	va_start(more, flags);
	const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
	va_end(more);
	if (refuse(__builtin_return_address(0))) {
		errno = EMFILE;
		return -1;
	}
	find_next();
	return next.open(path, flags, mode);
}

FAILING int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
	void *(*run)(void *), void *restrict argument)
{
	const uint64_t caller = (uint64_t)(uintptr_t)__builtin_return_address(0);

	if (refuse((const void *)caller) || (threads && caller >= shim_start && caller < shim_end))
		return EAGAIN;
	find_next();
	return next.create(thread, attributes, run, argument);
}
