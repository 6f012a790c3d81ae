/* SPDX-License-Identifier: MIT */
/*
 * The collector with a CUPTI that the test makes up: what it says of a refusal, whose clock it
 * takes, what it counts as lost, and that it leaves CUPTI as it found it. It starts once in a
 * process: each case is a child.
 */
#include "cupti/collector.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/buffers.h"
#include "tests/unit/cupti/made_up_cupti.h"

#define SLACK_NS INT64_C(60000000000)
#define DROPPED 5
#define KINDS 8 /* that a window switches on */

int __real_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);

/* Nobody is waited for without an end that comes soon. */
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	TEST_IN(until->tv_nsec, 0, 999999999);
	TEST_IN((until->tv_sec - now.tv_sec) * 1000000000 + until->tv_nsec - now.tv_nsec, -SLACK_NS,
		1000000000);
	return __real_pthread_mutex_timedlock(mutex, until);
}

static void start_refused(enum tfs_fact_code fact, const char *object)
{
	made_up.refusal.fact = fact;
	made_up.refusal.number = 7;
	snprintf(made_up.refusal.object, sizeof(made_up.refusal.object), "%s", object);
	tfs_collector_start();
	TEST_TRUE(!tfs_collector_ready());
	TEST_TRUE(!tfs_collector_window(true));
	TEST_EQ(seen.facts, 1);
	TEST_EQ(seen.fact.number, 7);
	/* What failed is not tried again. */
	tfs_collector_start();
	TEST_EQ(seen.subscribed, 1);
}

static void refused_by_somebody(void)
{
	start_refused(TFS_FACT_cupti_taken_by_another, "");
	TEST_EQ(seen.fact.fact, TFS_FACT_cupti_taken_by_another);
}

/* The library is too old to name him, but he was seen to come; the first of them has it. */
static void refused_by_one_we_know(void)
{
	tfs_collector_taken("a profiler");
	tfs_collector_taken("another");
	start_refused(TFS_FACT_cupti_taken_by_another, "");
	TEST_EQ(seen.fact.fact, TFS_FACT_cupti_taken);
	TEST_STR(seen.fact.object, "a profiler");
}

static void refused_for_another_reason(void)
{
	tfs_collector_taken("a profiler");
	start_refused(TFS_FACT_cupti_incomplete, "libcupti.so.12");
	TEST_EQ(seen.fact.fact, TFS_FACT_cupti_incomplete);
	TEST_STR(seen.fact.object, "libcupti.so.12");
}

static void start_well(void)
{
	/* Before the first window, it is no loss. */
	made_up.dropped = 99;
	tfs_collector_start();
	made_up.dropped += DROPPED;
	TEST_TRUE(tfs_collector_ready());
	TEST_EQ(seen.facts, 1);
	TEST_EQ(seen.fact.fact, TFS_FACT_cupti_in_windows);
	TEST_EQ(seen.fact.number, 130001);
	TEST_EQ(seen.on, 0);
	TEST_EQ(seen.zeroed, 1);
	TEST_EQ(seen.losses, 0);
}

static void start_disabled(void)
{
	made_up.disabled = true;
	tfs_collector_start();
	TEST_TRUE(!tfs_collector_ready());
	TEST_EQ(seen.facts, 1);
	TEST_EQ(seen.fact.fact, TFS_FACT_cupti_refuses);
	TEST_EQ(seen.fact.number, 0);
	TEST_EQ(seen.unsubscribed, 1);
}

/* Calls that CUPTI sees are of the family that the hook of that name in that library says. */
static void names_calls(void)
{
	start_well();
	TEST_IN(seen.apis, 100, 200);
	TEST_EQ(seen.copy.family, TFS_FAMILY_copy);
	TEST_EQ(seen.copy.domain, TFS_LIBRARY_cudart);
	TEST_EQ(seen.launch.family, TFS_FAMILY_launch);
	TEST_EQ(seen.launch.domain, TFS_LIBRARY_cuda);
}

/* A buffer comes back with a memset that takes 1000 ns. */
static void deliver(uint64_t start_ns)
{
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 9;

	errno = EXDEV;
	seen.request(&buffer, &bytes, &most);
	TEST_NEED(buffer && bytes == TFS_CUPTI_BUFFER_BYTES && most == 0);
	seen.set = (void *)buffer;
	*seen.set = (CUpti_ActivityMemset4){.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.start = start_ns,
		.end = start_ns + 1000,
		.bytes = 64};
	seen.complete(NULL, 0, buffer, bytes, sizeof(*seen.set));
	TEST_EQ(errno, EXDEV);
}

/* What the program did while all was switched on for the first time is of no window. */
static void our_clock(void)
{
	uint8_t strange[8] = {0};
	uint64_t early_ns, now_ns;

	start_well();
	early_ns = tfs_clock_ns(CLOCK_MONOTONIC) - 1000;
	deliver(early_ns);
	TEST_EQ(seen.op.bytes, 0);
	TEST_TRUE(tfs_collector_window(true));
	deliver(early_ns - 1);
	TEST_EQ(seen.op.bytes, 0);
	now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	deliver(now_ns);
	seen.complete(NULL, 0, strange, sizeof(strange), sizeof(strange));
	seen.complete(NULL, 0, NULL, 0, 0);
	TEST_EQ(seen.op.start_ns, now_ns);
	TEST_EQ(seen.op.end_ns, now_ns + 1000);
	TEST_EQ(seen.op.bytes, 64);
	TEST_EQ(seen.lost, DROPPED);
}

static void its_own_clock(void)
{
	uint64_t now_ns;

	made_up.clock = CUPTI_ERROR_NOT_SUPPORTED;
	start_well();
	TEST_TRUE(tfs_collector_window(true));
	now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	deliver(now_ns - BEHIND_NS);
	TEST_IN(seen.op.start_ns, now_ns - SLACK_NS, now_ns + SLACK_NS);
	TEST_EQ(seen.op.end_ns - seen.op.start_ns, 1000);
}

/* More than the buffer holds: nothing in it is believed. */
static void nonsense(void)
{
	uint8_t *buffer = NULL;
	size_t bytes, most;

	start_well();
	seen.request(&buffer, &bytes, &most);
	TEST_NEED(buffer);
	*(CUpti_ActivityMemset4 *)(void *)buffer =
		(CUpti_ActivityMemset4){.kind = CUPTI_ACTIVITY_KIND_MEMSET, .bytes = 64};
	seen.complete(NULL, 0, buffer, bytes, bytes + 1);
	TEST_EQ(seen.op.bytes, 0);
}

/* All the while a window is open, and three times after it. */
static void looks(void)
{
	start_well();
	tfs_collector_poll();
	TEST_EQ(seen.flushed, 0);
	TEST_TRUE(tfs_collector_window(true));
	TEST_EQ(seen.on, KINDS);
	for (int i = 0; i < 9; i++)
		tfs_collector_poll();
	TEST_EQ(seen.flushed, 9);
	TEST_TRUE(!tfs_collector_window(false));
	TEST_EQ(seen.on, 0);
	for (int i = 0; i < 9; i++)
		tfs_collector_poll();
	TEST_EQ(seen.flushed, 12);
}

static void leave(void)
{
	bool was_on = false;

	TEST_TRUE(tfs_collector_leave(&was_on));
	TEST_TRUE(was_on);
	TEST_TRUE(!tfs_collector_ready());
	TEST_EQ(seen.unsubscribed, 1);
	TEST_EQ(seen.on, 0);
	TEST_EQ(seen.zeroed, 0);
	TEST_EQ(seen.flushed, 1);
	TEST_TRUE(!tfs_collector_leave(&was_on));
}

static void comes_back(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};

	start_well();
	TEST_TRUE(tfs_collector_return(&refusal));
	TEST_EQ(seen.subscribed, 1);
	TEST_TRUE(tfs_collector_window(true));
	leave();
	TEST_EQ(seen.lost, DROPPED);
	TEST_TRUE(tfs_collector_return(&refusal));
	TEST_TRUE(tfs_collector_ready());
	TEST_EQ(refusal.fact, TFS_FACT_none);
	TEST_EQ(seen.subscribed, 2);
	TEST_EQ(seen.unsubscribed, 1);
	TEST_EQ(seen.zeroed, 1);
	TEST_TRUE(tfs_collector_window(true));
	TEST_EQ(seen.on, KINDS);
}

static void does_not_come_back(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};

	start_well();
	leave();
	made_up.refusal.fact = TFS_FACT_cupti_taken;
	TEST_TRUE(!tfs_collector_return(&refusal));
	TEST_EQ(refusal.fact, TFS_FACT_cupti_taken);
	TEST_EQ(seen.subscribed, 2);
	TEST_EQ(seen.unsubscribed, 1);
	/* Free again, it has nothing to tell; it is given back. */
	made_up.refusal.fact = TFS_FACT_none;
	made_up.disabled = true;
	TEST_TRUE(!tfs_collector_return(&refusal));
	TEST_EQ(refusal.fact, TFS_FACT_cupti_refuses);
	TEST_EQ(seen.unsubscribed, 2);
	made_up.disabled = false;
	TEST_TRUE(tfs_collector_return(&refusal));
	TEST_EQ(seen.unsubscribed, 2);
}

/* Before the helper has looked for it: it is looked for after it came back. */
static void left_early(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};
	bool was_on = true;

	TEST_TRUE(tfs_collector_leave(&was_on));
	TEST_TRUE(!was_on);
	tfs_collector_start();
	tfs_collector_poll();
	TEST_EQ(seen.subscribed, 0);
	TEST_TRUE(!tfs_collector_return(&refusal));
	TEST_EQ(refusal.fact, TFS_FACT_none);
	TEST_EQ(seen.subscribed, 0);
	tfs_collector_poll();
	TEST_EQ(seen.subscribed, 1);
	TEST_TRUE(tfs_collector_ready());
}

/* A window that CUPTI refuses to open gives it back. */
static void tires(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};

	start_well();
	made_up.disabled = true;
	TEST_TRUE(!tfs_collector_window(true));
	TEST_TRUE(!tfs_collector_ready());
	TEST_EQ(seen.unsubscribed, 1);
	TEST_EQ(seen.zeroed, 0);
	made_up.disabled = false;
	TEST_TRUE(tfs_collector_return(&refusal));
	TEST_TRUE(tfs_collector_window(true));
}

static uint8_t their_buffer[256];
static size_t their_size, their_valid = SIZE_MAX;

static void CUPTIAPI their_request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = their_buffer;
	*size = their_size;
	*most = 0;
}

static void CUPTIAPI no_request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = NULL;
	*size = sizeof(their_buffer);
	*most = 0;
}

static void CUPTIAPI their_complete(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	TEST_EQ(stream, 3);
	TEST_TRUE(buffer == their_buffer);
	TEST_EQ(size, their_size);
	their_valid = valid;
}

/* A buffer of ours that comes back to another: he gets what is in it, in one of his. */
static void hands_on(void)
{
	void (*complete)(CUcontext, uint32_t, uint8_t *, size_t, size_t);
	uint8_t *buffer = NULL;
	size_t bytes, most;

	TEST_TRUE(tfs_collector_share((void *)their_request, (void *)their_complete) ==
		  (void *)their_complete);
	start_well();
	seen.request(&buffer, &bytes, &most);
	TEST_NEED(buffer);
	leave();
	*(void **)&complete = tfs_collector_share((void *)their_request, (void *)their_complete);
	TEST_TRUE((void *)complete == (void *)seen.complete);
	memset(buffer, 0x77, 200);
	their_size = 199;
	complete(NULL, 3, buffer, bytes, 200);
	TEST_EQ(their_valid, 0);
	memset(buffer, 0x77, 200);
	their_size = 200;
	complete(NULL, 3, buffer, bytes, 200);
	TEST_EQ(their_valid, 200);
	TEST_EQ(their_buffer[199], 0x77);
	TEST_EQ(their_buffer[200], 0);
	/* Without both of his functions, or a buffer of his, it is nobody's. */
	their_valid = 5;
	tfs_collector_share((void *)their_request, NULL);
	complete(NULL, 3, buffer, bytes, 200);
	tfs_collector_share(NULL, (void *)their_complete);
	complete(NULL, 3, buffer, bytes, 200);
	tfs_collector_share((void *)no_request, (void *)their_complete);
	complete(NULL, 3, buffer, bytes, 200);
	TEST_EQ(their_valid, 5);
	/* His own are none of our business. */
	complete(NULL, 3, their_buffer, their_size, 17);
	TEST_EQ(their_valid, 17);
	seen.request(&buffer, &bytes, &most);
	TEST_TRUE(!buffer);
	TEST_EQ(bytes, 0);
}

static void ends(void)
{
	start_well();
	TEST_TRUE(tfs_collector_window(true));
	tfs_collector_finish();
	TEST_TRUE(!tfs_collector_ready());
	TEST_EQ(seen.on, 0);
	TEST_EQ(seen.flushed, 1);
	TEST_EQ(seen.lost, DROPPED);
	/* The process goes: nobody needs it back. */
	TEST_EQ(seen.unsubscribed, 0);
	tfs_collector_finish();
	TEST_EQ(seen.flushed, 1);
}

/* A forked child never touches it, whatever it is asked. */
static void is_forgotten(void)
{
	struct tfs_cupti_refusal refusal = {.fact = TFS_FACT_none};
	bool was_on = false;

	tfs_collector_forget();
	TEST_TRUE(!tfs_collector_leave(&was_on));
	TEST_TRUE(!tfs_collector_return(&refusal));
	tfs_collector_start();
	tfs_collector_poll();
	tfs_collector_finish();
	TEST_TRUE(!tfs_collector_ready());
	TEST_EQ(seen.subscribed, 0);
	TEST_EQ(seen.facts, 0);
}

int main(void)
{
	static void (*const cases[])(void) = {refused_by_somebody, refused_by_one_we_know,
		refused_for_another_reason, start_well, start_disabled, names_calls, our_clock,
		its_own_clock, nonsense, looks, comes_back, does_not_come_back, left_early, tires,
		hands_on, ends, is_forgotten};

	tfs_clock_init();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = -1;
		const pid_t child = fork();

		if (child == 0) {
			cases[i]();
			exit(test_result());
		}
		TEST_EQ(waitpid(child, &status, 0), child);
		TEST_EQ(status, 0);
	}
	printf("%zu cases\n", sizeof(cases) / sizeof(cases[0]));
	return test_result();
}
