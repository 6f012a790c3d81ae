/* SPDX-License-Identifier: MIT */
/* Ranges that are opened and closed: which one a call closes, and what the recording is told. */
#include "shim/nvtx/nvtx_nest.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/heap.h"
#include "shim/nvtx/nvtx_names.h"
#include "shim/nvtx/nvtx_steps.h"
#include "shim/record/recorder.h"
#include "shim/steps/windows.h"
#include "tests/test.h"

#define NESTED 64   /* pushed ranges of a thread that are timed */
#define STARTED 512 /* ranges that are open from one call to another */
#define ONE 1
#define OTHER 2

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

bool tfs_clock_is_tsc;
struct tfs_writer tfs_recording;
static struct tfs_file_header header;
static uint64_t now = 1000, passes; /* and with every look at the clock */
static bool window, inside;
static struct tfs_range_record told[4]; /* the latest first */
static unsigned tellings, heaps;
static uint32_t opened, closed; /* the latest, for the search for steps */
static uint64_t opened_at;
static const void *opened_by;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	now += passes;
	*out = (struct timespec){.tv_nsec = (long)now};
	return 0;
}

void *tfs_heap_alloc(size_t bytes)
{
	heaps++;
	errno = ENOMEM;
	return malloc(bytes);
}

void tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	TEST_EQ(kind, TFS_RECORD_range);
	memmove(&told[1], &told[0], sizeof(told) - sizeof(told[0]));
	memcpy(&told[0], record, bytes);
	tellings++;
}

uint32_t tfs_nvtx_name_string(uint32_t name)
{
	return name == 0 ? 0 : 500 + name;
}

bool tfs_windows_open(void)
{
	return window;
}

bool tfs_nvtx_is_inside_hook(void)
{
	return inside;
}

void tfs_nvtx_steps_opened(uint32_t name, uint64_t ticks, const void *caller)
{
	opened = name;
	opened_at = ticks;
	opened_by = caller;
}

void tfs_nvtx_steps_closed(uint32_t name)
{
	closed = name;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static int push(uint16_t domain, uint32_t name)
{
	now += 10;
	return tfs_nvtx_push(domain, name, NULL);
}

/* Closes one of the domain's, which has to be this one. */
static void pops(uint16_t domain, uint32_t name, uint64_t start, uint16_t level)
{
	const unsigned before = tellings;

	now += 10;
	TEST_EQ(tfs_nvtx_pop(domain), level);
	TEST_EQ(tellings, before + 1);
	TEST_EQ(closed, name);
	TEST_EQ(told[0].range, TFS_RANGE_PUSHED);
	TEST_EQ(told[0].name, 500 + name);
	TEST_EQ(told[0].start_ticks, start);
	TEST_EQ(told[0].duration_ticks, (float)(now - start));
	TEST_EQ(told[0].tid, own_tid());
	TEST_EQ(told[0].level, level);
	TEST_EQ(told[0].domain, domain == 0 ? 0 : 500 + 90 + domain);
}

/* Each domain nests for itself, however their calls alternate. */
static void check_domains(void)
{
	tfs_nvtx_domain(ONE, 91);
	tfs_nvtx_domain(OTHER, 92);
	errno = ERANGE;
	TEST_EQ(push(ONE, 1), 0);
	TEST_EQ(errno, ERANGE);
	const uint64_t start = now;
	TEST_EQ(push(OTHER, 2), 0);
	TEST_EQ(push(ONE, 3), 1);
	TEST_EQ(push(0, 4), 0);
	TEST_EQ(push(OTHER, 5), 1);
	TEST_EQ(opened, 5);
	TEST_EQ(opened_at, now);
	pops(ONE, 3, start + 20, 1);
	pops(OTHER, 5, start + 40, 1);
	pops(ONE, 1, start, 0);
	TEST_EQ(tfs_nvtx_pop(ONE), -1);
	pops(OTHER, 2, start + 10, 0);
	pops(0, 4, start + 30, 0);
	TEST_EQ(tfs_nvtx_pop(0), -1);
}

/* What lies too deep is counted, and the others are still closed by their own calls. */
static void check_deep(void)
{
	const unsigned before = tellings;

	for (int i = 0; i < NESTED + 10; i++)
		TEST_EQ(push(0, 1 + (uint32_t)i), i);
	TEST_EQ(opened, NESTED);
	for (int i = NESTED + 10; i-- > NESTED;)
		TEST_EQ(tfs_nvtx_pop(0), i);
	TEST_EQ(tellings, before);
	const uint64_t last = now;
	for (int i = NESTED; i-- > 0;)
		pops(0, 1 + (uint32_t)i, last - 10 * (uint64_t)(NESTED + 9 - i), (uint16_t)i);
	TEST_EQ(tfs_nvtx_pop(0), -1);
}

/* Only in windows, and only what the program itself opened, and named. */
static void check_recorded(void)
{
	const unsigned before = tellings;

	window = false;
	push(0, 1);
	TEST_EQ(tfs_nvtx_pop(0), 0);
	TEST_EQ(closed, 1);
	window = true;
	push(0, 0);
	TEST_EQ(tfs_nvtx_pop(0), 0);
	TEST_EQ(closed, 0);
	inside = true;
	push(0, 7);
	TEST_EQ(opened, 0);
	TEST_EQ(tfs_nvtx_pop(0), 0);
	TEST_EQ(closed, 0);
	inside = false;
	push(0, 8);
	tfs_recording.header = NULL;
	TEST_EQ(tfs_nvtx_pop(0), 0);
	TEST_EQ(closed, 0);
	tfs_recording.header = &header;
	TEST_EQ(tellings, before);
}

static void check_marks(void)
{
	closed = 0;
	passes = 10;
	tfs_nvtx_mark(ONE, 3);
	passes = 0;
	TEST_EQ(told[0].range, TFS_RANGE_MARK);
	TEST_EQ(told[0].name, 503);
	TEST_EQ(told[0].domain, 591);
	TEST_EQ(told[0].start_ticks, now);
	TEST_EQ(told[0].duration_ticks, 0);
	TEST_EQ(told[0].tid, own_tid());
	/* No step begins or ends by one. */
	TEST_EQ(closed, 0);
}

static void *end(void *id)
{
	tfs_nvtx_end(*(const uint64_t *)id);
	return (void *)(uintptr_t)own_tid();
}

/* One thread opens what another closes. */
static void check_started(void)
{
	static const char caller;
	pthread_t thread;
	void *ender;
	unsigned before;

	now += 10;
	uint64_t first = tfs_nvtx_begin(ONE, 4, 0, &caller);
	const uint64_t start = now;
	TEST_EQ(opened, 4);
	TEST_TRUE(opened_by == &caller);
	const uint64_t second = tfs_nvtx_begin(0, 5, 0, NULL);
	TEST_TRUE(first != 0 && second != 0 && first != second);
	/* The next tool's, of which it may know two at the same place. */
	TEST_EQ(tfs_nvtx_begin(OTHER, 6, first + STARTED, NULL), first + STARTED);
	now += 300;
	TEST_NEED(pthread_create(&thread, NULL, end, &first) == 0);
	pthread_join(thread, &ender);
	TEST_EQ(closed, 4);
	TEST_EQ(told[0].range, TFS_RANGE_STARTED);
	TEST_EQ(told[0].name, 504);
	TEST_EQ(told[0].domain, 591);
	TEST_EQ(told[0].start_ticks, start);
	TEST_EQ(told[0].duration_ticks, 300);
	TEST_EQ(told[0].tid, (uint32_t)(uintptr_t)ender);
	before = tellings;
	tfs_nvtx_end(first);
	tfs_nvtx_end(first + 2 * STARTED);
	TEST_EQ(tellings, before);
	tfs_nvtx_end(first + STARTED);
	TEST_EQ(told[0].name, 506);
	TEST_EQ(told[0].tid, own_tid());
	tfs_nvtx_end(second);
	TEST_EQ(told[0].name, 505);
	/* As many as there are places are told, and each makes room again. */
	uint64_t ids[STARTED + 5];
	for (unsigned i = 0; i < STARTED + 5; i++)
		ids[i] = tfs_nvtx_begin(0, 7, 0, NULL);
	before = tellings;
	for (unsigned i = 0; i < STARTED + 5; i++)
		tfs_nvtx_end(ids[i]);
	TEST_EQ(tellings, before + STARTED);
	tfs_nvtx_end(tfs_nvtx_begin(0, 8, 0, NULL));
	TEST_EQ(told[0].name, 508);
}

static void *nest(void *nothing)
{
	(void)nothing;
	TEST_EQ(push(0, 2), 0);
	pops(0, 2, now, 0);
	/* One is left open. */
	TEST_EQ(push(0, 3), 0);
	return NULL;
}

/* A thread begins with none, whatever one that has ended left open; it gets that one's memory. */
static void check_threads(void)
{
	const unsigned before = heaps;
	pthread_t thread;

	TEST_EQ(push(0, 1), 0);
	for (int i = 0; i < 3; i++) {
		TEST_NEED(pthread_create(&thread, NULL, nest, NULL) == 0);
		pthread_join(thread, NULL);
	}
	TEST_TRUE(heaps <= before + 1);
	TEST_EQ(push(0, 4), 1);
	TEST_EQ(tfs_nvtx_pop(0), 1);
	TEST_EQ(tfs_nvtx_pop(0), 0);
}

int main(void)
{
	tfs_recording.header = &header;
	window = true;
	check_domains();
	check_deep();
	check_recorded();
	check_marks();
	check_started();
	check_threads();
	return test_result();
}
