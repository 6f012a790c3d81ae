/* SPDX-License-Identifier: MIT */
#include "shim/base/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/base/child.h"
#include "shim/base/log.h"

/* What heap_jemalloc.sh makes of jemalloc's names. */
extern const char *tfje_malloc_conf;
extern void (*tfje_malloc_message)(void *, const char *);
void *tfje_calloc(size_t count, size_t bytes);
void tfje_sdallocx(void *memory, size_t bytes, int flags);
long tfje_sysconf(int name);
char *tfje_secure_getenv(const char *name);
int tfje_pthread_key_create(pthread_key_t *key, void (*end)(void *));

/* What it asks of others is taken from here, one function each. */
#define ANSWER(type, name, value)                                                                  \
	type tfje_##name(void);                                                                    \
	type tfje_##name(void)                                                                     \
	{                                                                                          \
		return value;                                                                      \
	}

/* It opens no file, starts no thread, looks no symbol up and leaves the end of the data segment
 * where it is. */
ANSWER(long, creat, -1)
ANSWER(void *, dlsym, NULL)
ANSWER(long, open, -1)
ANSWER(long, pthread_create, -1)
ANSWER(long, readlink, -1)
ANSWER(long, sbrk, -1)
ANSWER(long, syscall, -1)

/* Nothing runs when the process ends, nor around a fork: see tfs_heap_alloc. */
ANSWER(long, atexit, 0)
ANSWER(long, pthread_atfork, 0)

/* Its profiler, for which every process would load two more libraries. */
ANSWER(long, _Unwind_Backtrace, 0)
ANSWER(long, _Unwind_GetIP, 0)
ANSWER(double, exp, 0)
ANSWER(double, log, 0)
ANSWER(double, round, 0)

/* Small before fast: it is asked a few times per thread and per table. What is freed goes back to
 * the system. It would try out madvise in a page that it does not check for. */
const char *tfje_malloc_conf = "narenas:1,tcache:false,retain:false,cache_oblivious:false,"
			       "oversize_threshold:0,dirty_decay_ms:0,muzzy_decay_ms:0,"
			       "trust_madvise:true";

/* The number of processors is of no use to it, and the C library opens files to tell. */
long tfje_sysconf(int name)
{
	return name == _SC_PAGESIZE ? sysconf(name) : 1;
}

/* A thread that ends is taken from a list; in a child, others may have held its lock. */
static void (*end_thread)(void *);

static void end_own_thread(void *memory)
{
	if (!tfs_child_is())
		end_thread(memory);
}

int tfje_pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
	end_thread = end;
	return pthread_key_create(key, end_own_thread);
}

/* MALLOC_CONF is for the program's heap. */
char *tfje_secure_getenv(const char *name)
{
	(void)name;
	return secure_getenv("TFSHIM_MALLOC_CONF");
}

static bool works;

static void say(void *nothing, const char *text)
{
	(void)nothing;
	tfs_log(TFS_LOG_WARN, "heap: %.*s", (int)strcspn(text, "\n"), text);
}

/* It starts with the first block, and not before: most processes need none. Where one thread fails
 * to start it, the next one to ask would wait for that for ever. */
static void start(void)
{
	tfje_malloc_message = say;
	void *first = tfje_calloc(1, 1);
	works = first != NULL;
	if (works)
		tfje_sdallocx(first, 1, 0);
}

void *tfs_heap_alloc(size_t bytes)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const int saved = errno;

	if (tfs_child_is())
		return NULL;
	pthread_once(&once, start);
	void *memory = works ? tfje_calloc(1, bytes) : NULL;
	errno = saved;
	return memory;
}

void tfs_heap_free(void *memory, size_t bytes)
{
	const int saved = errno;

	if (memory && !tfs_child_is())
		tfje_sdallocx(memory, bytes, 0);
	errno = saved;
}
